import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/style.css";
import "./styles/app.css";
import "./styles/controls.css";
import { Home } from "./home/Home";
import { factsOf } from "./shell/facts";
import { Studio } from "./shell/Studio";
import { followTheme } from "./shell/theme";
import { useStudio } from "./store/studio";

followTheme();
const root = document.getElementById("studio");
if (root) {
  const page = factsOf(root);
  useStudio.setState({ page });
  createRoot(root).render(
    <StrictMode>
      {page.workflowId === null ? <Home /> : <Studio id={page.workflowId} />}
    </StrictMode>,
  );
}
