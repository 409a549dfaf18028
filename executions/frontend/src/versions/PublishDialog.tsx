import { useEffect, useState } from "react";
import { wordsOf } from "../api/client";
import { Comparison } from "../diff/Comparison";
import { compared } from "../diff/compare";
import { goToProblem } from "../problems/going";
import { ProblemRows } from "../problems/ProblemRows";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { type FoundProblem, useStudio } from "../store/studio";
import { t } from "../words/t";
import { type Outcome, type Prepared, prepare, publishNow } from "./publishing";
import "./versions.css";

/** Publishes the draft, after saving it, checking it, and comparing it with the last version. */
export function PublishDialog() {
  const [prepared, setPrepared] = useState<Prepared | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [working, setWorking] = useState(false);
  const [failure, setFailure] = useState("");
  const [share, setShare] = useState<string | null>(null);
  const { hasCanaries } = useStudio((state) => state.page);
  useEffect(() => {
    prepare().then(
      (found) => {
        if (typeof found === "string") setFailure(found);
        else setPrepared(found);
      },
      (error: unknown) => setFailure(wordsOf(error)),
    );
  }, []);
  const go = (): void => {
    setWorking(true);
    publishNow(share === null ? null : Number(share))
      .then(
        (made) => {
          setOutcome(made);
          if (made.kind === "published")
            announce(t("versions.publishedVersion", { number: made.version }));
        },
        (error: unknown) => setFailure(wordsOf(error)),
      )
      .finally(() => setWorking(false));
  };
  const done = outcome !== null && outcome.kind !== "problems";
  return (
    <Dialog
      title={t("versions.publish")}
      wide
      onClose={close}
      actions={
        done ? (
          <Button label={t("shared.close")} strong onClick={close} />
        ) : (
          <>
            <Button label={t("shared.cancel")} onClick={close} />
            <Button
              label={t("versions.publish")}
              icon="publish"
              strong
              refusal={failure || refusalOf(prepared, outcome, working) || shareRefusal(share)}
              onClick={go}
            />
          </>
        )
      }
    >
      {failure !== "" && (
        <p className="dialog-failure" role="alert">
          {failure}
        </p>
      )}
      {outcome?.kind === "published" && <Done outcome={outcome} />}
      {outcome?.kind === "unchanged" && (
        <p role="status">{t("versions.nothingToPublish", { reason: outcome.message })}</p>
      )}
      {!done && prepared === null && failure === "" && (
        <p role="status">{t("versions.savingAndCheckingTheDraft")}</p>
      )}
      {!done && hasCanaries && prepared?.latest && <Share share={share} onChange={setShare} />}
      {!done && prepared && <Before prepared={prepared} outcome={outcome} />}
    </Dialog>
  );
}

const close = (): void => useStudio.getState().set({ dialog: null });

/** Return the reason why the share is invalid, or undefined; null means all new executions. */
function shareRefusal(share: string | null): string | undefined {
  if (share === null) return undefined;
  const percent = Number(share);
  const fits = share.trim() !== "" && percent >= 0.01 && percent <= 100;
  return fits ? undefined : t("versions.giveAShare");
}

/** The choice between all new executions and a share of them. */
function Share({
  share,
  onChange,
}: {
  share: string | null;
  onChange: (share: string | null) => void;
}) {
  return (
    <div className="publish-share">
      <label>
        <input
          type="checkbox"
          checked={share !== null}
          onChange={(event) => onChange(event.target.checked ? "5" : null)}
        />{" "}
        {t("versions.publishAsCanary")}
      </label>
      {share !== null && (
        <>
          <label>
            {t("versions.shareOfTheStarts")}{" "}
            <input
              type="number"
              min={0.01}
              max={100}
              step="any"
              value={share}
              onChange={(event) => onChange(event.target.value)}
            />
          </label>
          <p className="dialog-hint">{t("versions.canaryHint")}</p>
        </>
      )}
    </div>
  );
}

const errorsOf = (problems: readonly FoundProblem[]): FoundProblem[] =>
  problems.filter((one) => one.level === "error");

/** Return the reason why the draft cannot be published now, or undefined. */
function refusalOf(
  prepared: Prepared | null,
  outcome: Outcome | null,
  working: boolean,
): string | undefined {
  if (working) return t("versions.theVersionIsBeingMade");
  if (!prepared) return t("versions.theDraftIsBeingChecked");
  if (outcome?.kind === "problems" || errorsOf(prepared.problems).length > 0) {
    return t("versions.fixTheProblemsFirst");
  }
  const { latest, unchanged } = prepared;
  return latest && unchanged
    ? t("versions.nothingDiffersFromVersion", { number: latest.number })
    : undefined;
}

function Before({ prepared, outcome }: { prepared: Prepared; outcome: Outcome | null }) {
  const draft = useStudio((state) => state.stored);
  const problems = outcome?.kind === "problems" ? outcome.problems : prepared.problems;
  const { latest } = prepared;
  return (
    <>
      <Found problems={problems} />
      {latest && !prepared.unchanged && compared(latest.document, draft).length === 0 && (
        <p>{t("versions.whatModulesSayOfThemselves", { number: latest.number })}</p>
      )}
      {latest ? (
        <Comparison
          before={latest.document}
          after={draft}
          beforeName={t("versions.versionInside", { number: latest.number })}
          afterName={t("versions.thisDraft")}
        />
      ) : (
        <p>{t("versions.thisWillBeTheFirstVersion")}</p>
      )}
    </>
  );
}

/** The problems that prevent publishing, or the warnings; a click leads to the place of each. */
function Found({ problems }: { problems: readonly FoundProblem[] }) {
  if (problems.length === 0) return null;
  const errors = errorsOf(problems).length;
  return (
    <div className="publish-found" role="alert">
      <p>
        {errors > 0
          ? t("versions.theseProblemsKeepTheDraft")
          : t("versions.theseWarningsDoNotKeep")}
      </p>
      <ProblemRows
        problems={problems}
        onChoose={(problem) => {
          close();
          goToProblem(problem);
        }}
      />
    </div>
  );
}

function Done({ outcome }: { outcome: Outcome & { kind: "published" } }) {
  const { workflowPage } = useStudio.getState().page;
  return (
    <>
      <p className="version-made" role="status">
        <Icon name="check_circle" /> {t("versions.publishedVersion", { number: outcome.version })}
      </p>
      <p className="dialog-hint">
        {outcome.percent === null
          ? t("versions.newExecutionsRun")
          : t("versions.canaryTakes", { number: outcome.version, percent: outcome.percent })}
      </p>
      <p className="version-links">
        <Button
          label={t("versions.seeAllVersions")}
          icon="history"
          onClick={() => useStudio.getState().set({ dialog: "versions" })}
        />
        <Button
          label={t("versions.runIt")}
          icon="play_arrow"
          onClick={() => useStudio.getState().set({ dialog: "run" })}
        />
        {workflowPage !== "" && (
          <a className="button" href={workflowPage}>
            {t("versions.openInTheAdmin")}
          </a>
        )}
      </p>
      <Found problems={outcome.warnings} />
    </>
  );
}
