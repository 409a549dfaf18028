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
import { type Outcome, type Prepared, prepare, publishNow } from "./publishing";
import "./versions.css";

/** Makes a version of the draft: saved first, checked by the server, compared with the last one. */
export function PublishDialog() {
  const [prepared, setPrepared] = useState<Prepared | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [working, setWorking] = useState(false);
  const [failure, setFailure] = useState("");
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
    publishNow()
      .then(
        (made) => {
          setOutcome(made);
          if (made.kind === "published") announce(`Published version ${made.version}`);
        },
        (error: unknown) => setFailure(wordsOf(error)),
      )
      .finally(() => setWorking(false));
  };
  const done = outcome !== null && outcome.kind !== "problems";
  return (
    <Dialog
      title="Publish"
      wide
      onClose={close}
      actions={
        done ? (
          <Button label="Close" strong onClick={close} />
        ) : (
          <>
            <Button label="Cancel" onClick={close} />
            <Button
              label="Publish"
              icon="publish"
              strong
              refusal={failure || refusalOf(prepared, outcome, working)}
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
      {outcome?.kind === "unchanged" && <p role="status">Nothing to publish. {outcome.message}</p>}
      {!done && prepared === null && failure === "" && (
        <p role="status">Saving and checking the draft…</p>
      )}
      {!done && prepared && <Before prepared={prepared} outcome={outcome} />}
    </Dialog>
  );
}

const close = (): void => useStudio.getState().set({ dialog: null });

const errorsOf = (problems: readonly FoundProblem[]): FoundProblem[] =>
  problems.filter((one) => one.level === "error");

/** Why it cannot be published now, if so. */
function refusalOf(
  prepared: Prepared | null,
  outcome: Outcome | null,
  working: boolean,
): string | undefined {
  if (working) return "The version is being made.";
  if (!prepared) return "The draft is being checked.";
  if (outcome?.kind === "problems" || errorsOf(prepared.problems).length > 0) {
    return "Fix the problems first.";
  }
  const { latest, unchanged } = prepared;
  return latest && unchanged ? `Nothing differs from version ${latest.number}.` : undefined;
}

function Before({ prepared, outcome }: { prepared: Prepared; outcome: Outcome | null }) {
  const draft = useStudio((state) => state.stored);
  const problems = outcome?.kind === "problems" ? outcome.problems : prepared.problems;
  const { latest } = prepared;
  return (
    <>
      <Found problems={problems} />
      {latest && !prepared.unchanged && compared(latest.document, draft).length === 0 && (
        <p>
          What modules say of themselves, or this installation&rsquo;s defaults, changed since
          version {latest.number}: time-outs, retries or effects, for example. A new version takes
          that in.
        </p>
      )}
      {latest ? (
        <Comparison
          before={latest.document}
          after={draft}
          beforeName={`version ${latest.number}`}
          afterName="this draft"
        />
      ) : (
        <p>This will be the first version. Its triggers take effect at once.</p>
      )}
    </>
  );
}

/** What keeps from publishing, and what does not; a click leads there. */
function Found({ problems }: { problems: readonly FoundProblem[] }) {
  if (problems.length === 0) return null;
  const errors = errorsOf(problems).length;
  return (
    <div className="publish-found" role="alert">
      <p>
        {errors > 0
          ? "These problems keep the draft from being published:"
          : "These warnings do not keep the draft from being published:"}
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
        <Icon name="check_circle" /> Published version {outcome.version}
      </p>
      <p className="dialog-hint">New executions run it, and its triggers have taken effect.</p>
      <p className="version-links">
        <Button
          label="See all versions"
          icon="history"
          onClick={() => useStudio.getState().set({ dialog: "versions" })}
        />
        <Button
          label="Run it…"
          icon="play_arrow"
          onClick={() => useStudio.getState().set({ dialog: "run" })}
        />
        {workflowPage !== "" && (
          <a className="button" href={workflowPage}>
            Open in the admin
          </a>
        )}
      </p>
      <Found problems={outcome.warnings} />
    </>
  );
}
