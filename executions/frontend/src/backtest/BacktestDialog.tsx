import { useEffect, useState } from "react";
import { Refused, wordsOf } from "../api/client";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import {
  type Backtest,
  cancelBacktest,
  getBacktest,
  isOver,
  markOfVerdict,
  showOnCanvas,
  startBacktest,
  VERDICTS,
} from "./backtesting";

const LOOK = 700; // milliseconds
const MOST = 10_000;

/** Compares the draft with the records of past executions; the canvas can show the result. */
export function BacktestDialog() {
  const [last, setLast] = useState("100");
  const [failedOnly, setFailedOnly] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const [backtest, setBacktest] = useState<Backtest | null>(null);
  useFollowing(backtest, setBacktest, setFailure);
  const number = Number(last);
  const fits = Number.isInteger(number) && number >= 1 && number <= MOST;
  const waits = busy || (backtest !== null && !isOver(backtest));
  const run = (act: () => Promise<Backtest>): void => {
    setBusy(true);
    setFailure("");
    act()
      .then(setBacktest, (error: unknown) => setFailure(told(error)))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog
      title={t("backtest.title")}
      wide
      onClose={close}
      actions={
        <>
          <Button label={t("shared.close")} onClick={close} />
          {backtest !== null && !isOver(backtest) && (
            <Button
              label={t("backtest.cancel")}
              icon="block"
              onClick={() => run(() => cancelBacktest(backtest.id))}
            />
          )}
          {backtest !== null && isOver(backtest) && (
            <Button
              label={t("backtest.showOnCanvas")}
              icon="account_tree"
              onClick={() => {
                showOnCanvas(backtest);
                close();
              }}
            />
          )}
          <Button
            label={t("backtest.start")}
            icon="difference"
            strong
            refusal={waits ? t("backtest.running") : fits ? undefined : t("backtest.giveANumber")}
            onClick={() => run(() => startBacktest(number, failedOnly))}
          />
        </>
      }
    >
      <p className="dialog-hint">{t("backtest.hint")}</p>
      <p>
        <label>
          {t("backtest.newest")}{" "}
          <input
            type="number"
            min={1}
            max={MOST}
            value={last}
            onChange={(event) => setLast(event.target.value)}
          />
        </label>
      </p>
      <p>
        <label>
          <input
            type="checkbox"
            checked={failedOnly}
            onChange={(event) => setFailedOnly(event.target.checked)}
          />{" "}
          {t("backtest.failedOnly")}
        </label>
      </p>
      {failure !== "" && (
        <p className="dialog-failure" role="alert">
          {failure}
        </p>
      )}
      {backtest !== null && <Result backtest={backtest} />}
    </Dialog>
  );
}

const close = (): void => useStudio.getState().set({ dialog: null });

/** If the draft has problems, return the summary only: the list of problems shows each of them. */
const told = (error: unknown): string =>
  error instanceof Refused && error.errors.length > 0 ? error.detail : wordsOf(error);

/** Poll the backtest until it ends. */
function useFollowing(
  backtest: Backtest | null,
  onNews: (backtest: Backtest) => void,
  onFailure: (words: string) => void,
): void {
  useEffect(() => {
    if (backtest === null || isOver(backtest)) return undefined;
    const timer = window.setTimeout(() => {
      getBacktest(backtest.id).then(onNews, (error: unknown) => onFailure(wordsOf(error)));
    }, LOOK);
    return () => window.clearTimeout(timer);
  }, [backtest, onNews, onFailure]);
}

function Result({ backtest }: { backtest: Backtest }) {
  const { executionPage } = useStudio.getState().page;
  const { done, total } = backtest;
  const page = (id: string): string =>
    executionPage.replace("00000000-0000-0000-0000-000000000000", id);
  return (
    <section aria-label={t("backtest.result")}>
      <p role="status">
        {t("backtest.compared", { done, total: total ?? "?" })}
        {backtest.error !== "" && ` ${backtest.error}`}
      </p>
      <ul>
        {VERDICTS.filter((verdict) => backtest.counts[verdict] > 0).map((verdict) => (
          <li key={verdict}>
            <Icon name={markOfVerdict(verdict).icon} />{" "}
            {`${backtest.counts[verdict]} ${markOfVerdict(verdict).word}`}
          </li>
        ))}
      </ul>
      {isOver(backtest) && backtest.groups.length === 0 && <p>{t("backtest.noDifferences")}</p>}
      <ul>
        {backtest.groups.map((group) => (
          <li key={group.text}>
            {group.text}{" "}
            {executionPage !== "" && group.executions[0] !== undefined && (
              <a href={page(group.executions[0])}>{t("backtest.anExecution")}</a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
