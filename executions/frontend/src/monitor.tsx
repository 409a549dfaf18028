import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/style.css";
import "./styles/controls.css";
import { Monitor } from "./monitor/Monitor";
import { pagesOf } from "./monitor/pages";
import { useMonitor } from "./monitor/store";
import { followDjangosTheme } from "./monitor/theme";
import "./monitor/monitor.css";

const page = document.getElementById("monitor");
const root = document.getElementById("vm-app");
if (page && root) {
  useMonitor.setState({ pages: pagesOf(page) });
  followDjangosTheme();
  createRoot(root).render(<Monitor />);
}
