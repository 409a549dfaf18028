import { Refused } from "../api/client";
import { tidy } from "../canvas/commands";
import { notice } from "../canvas/notice";
import { Menu, type MenuItem } from "../shared/Menu";
import { useRefusal } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { copyName, createFree } from "../transfer/creating";
import { download, type Format, fileName, written } from "../transfer/files";
import { keptReport } from "../transfer/n8n";
import { t } from "../words/t";
import { useThemeItems } from "./themeItems";

const REPORT: MenuItem = {
  label: t("shell.reportOfTheImport"),
  icon: "fact_check",
  onChoose: () => useStudio.getState().set({ dialog: "report" }),
};

/** The menu of less frequent actions for the whole workflow. */
export function MoreMenu() {
  const page = useStudio((state) => state.page);
  const themes = useThemeItems();
  const id = useStudio((state) => state.workflow?.id ?? "");
  const refusal = useRefusal();
  const { set } = useStudio.getState();
  const items: MenuItem[] = [
    { label: t("shell.downloadAsYaml"), icon: "download", onChoose: () => save("yaml") },
    { label: t("shell.downloadAsJson"), icon: "download", onChoose: () => save("json") },
    { label: t("shell.copyAsJson"), icon: "content_copy", onChoose: () => void copy() },
    {
      label: t("shell.import"),
      icon: "upload",
      refusal,
      onChoose: () => set({ dialog: "import" }),
    },
    ...(keptReport(id) ? [REPORT] : []),
    {
      label: t("shell.duplicate"),
      icon: "file_copy",
      apart: true,
      refusal,
      onChoose: () => void double(),
    },
    {
      label: t("shell.tidy"),
      icon: "auto_fix_high",
      refusal,
      onChoose: () => tidy(),
    },
    ...(page.workflowPage
      ? [{ label: t("shell.openInTheAdmin"), icon: "open_in_new", href: page.workflowPage }]
      : []),
    { label: t("shell.keys"), icon: "keyboard", onChoose: () => set({ dialog: "keys" }) },
    ...themes.map((item, at) => ({ ...item, apart: at === 0 })),
  ];
  return <Menu label={t("shell.more")} icon="more_vert" items={items} />;
}

function save(format: Format): void {
  const { present } = useStudio.getState().history;
  download(written(present, format), fileName(present.name, format), `application/${format}`);
  notice(t("shell.downloaded", { file: fileName(present.name, format) }));
}

async function copy(): Promise<void> {
  const { present } = useStudio.getState().history;
  try {
    await navigator.clipboard.writeText(written(present, "json"));
    notice(t("shell.copiedAsJson"));
  } catch {
    notice(t("shell.theBrowserDidNotAllowCopying"));
  }
}

async function double(): Promise<void> {
  const { history, page } = useStudio.getState();
  const name = copyName(history.present.name);
  try {
    const made = await createFree(name, history.present, page.workspaceId ?? undefined);
    location.assign(`${page.home}${made.id}/`);
  } catch (error) {
    notice(error instanceof Refused ? error.detail : String(error));
  }
}
