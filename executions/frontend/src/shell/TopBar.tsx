import { ProblemCount } from "../problems/ProblemCount";
import { openRun } from "../running/wish";
import { NameField } from "../saving/NameField";
import { SaveState } from "../saving/SaveState";
import { useSaving } from "../saving/useSaving";
import { Button } from "../shared/Button";
import { usePublishRefusal, useRefusal } from "../store/readOnly";
import { useStudio, type View } from "../store/studio";
import { t } from "../words/t";
import { SMALL, useNarrower } from "./drawers";
import { MoreMenu } from "./MoreMenu";
import { SideButton } from "./SideButton";

const VIEWS: readonly [View, string, string][] = [
  ["canvas", t("shell.canvas"), "account_tree"],
  ["list", t("shell.list"), "list"],
  ["yaml", "YAML", "code"],
];
const NO_START = t("shell.yourRoleInThisWorkspaceDoes");

/** The top bar: the workflow's name, whether it is saved, and actions for the whole workflow. */
export function TopBar() {
  const page = useStudio((state) => state.page);
  const view = useStudio((state) => state.view);
  const set = useStudio((state) => state.set);
  const small = useNarrower(SMALL);
  const save = useSaving();
  const refusal = useRefusal();
  const unpublishable = usePublishRefusal();
  return (
    <header className="top">
      <SideButton side="palette" />
      <a href={page.home} className="crumb">
        {t("shell.workflows")}
      </a>
      <span aria-hidden="true">/</span>
      <NameField />
      <SaveState />
      <Button
        icon="history"
        label={t("shell.versions")}
        bare
        onClick={() => set({ dialog: "versions" })}
      />
      <UndoRedo />
      <fieldset className="group" aria-label={t("shell.view")}>
        {VIEWS.filter(([key]) => !small || key !== "canvas").map(([key, label, icon]) => (
          <Button
            key={key}
            icon={icon}
            label={label}
            bare
            aria-pressed={(small && view === "canvas" ? "list" : view) === key}
            onClick={() => set({ view: key })}
          />
        ))}
      </fieldset>
      <span className="space" />
      <ProblemCount />
      <Button
        icon="play_arrow"
        label={t("shell.run")}
        refusal={page.canRun ? undefined : NO_START}
        onClick={() => openRun()}
      />
      {page.hasBacktests && page.canEdit && (
        <Button
          icon="difference"
          label={t("shell.backtest")}
          bare
          onClick={() => set({ dialog: "backtest" })}
        />
      )}
      <Button
        icon="publish"
        label={t("shell.publish")}
        refusal={unpublishable}
        onClick={() => set({ dialog: "publish" })}
      />
      <Button icon="save" label={t("shell.save")} strong refusal={refusal} onClick={save} />
      <MoreMenu />
      <SideButton side="inspector" />
    </header>
  );
}

function UndoRedo() {
  const { past, future } = useStudio((state) => state.history);
  const { undo, redo } = useStudio.getState();
  return (
    <fieldset className="group" aria-label={t("shell.changes")}>
      <Button
        icon="undo"
        label={t("shell.undo")}
        bare
        refusal={past.length ? undefined : t("shell.nothingToUndo")}
        onClick={undo}
      />
      <Button
        icon="redo"
        label={t("shell.redo")}
        bare
        refusal={future.length ? undefined : t("shell.nothingToRedo")}
        onClick={redo}
      />
    </fieldset>
  );
}
