/** After a failure the pause is this long, and doubles with each further one in a row, up to `MAX_FACTOR * everyMs`. */
const RETRY_MS = 4_000;
const MAX_FACTOR = 8;

/**
 * Runs work at once, and again `everyMs` after each end, but not while the page is hidden.
 *
 * @param work is tried again soon when it fails, then ever later
 * @returns stops it
 */
export function startPolling(work: (signal: AbortSignal) => Promise<void>, everyMs: number): () => void {
  const stopped = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWorking = false;
  let failures = 0;
  const round = async () => {
    clearTimeout(timer);
    if (isWorking || document.hidden || stopped.signal.aborted) return;
    isWorking = true;
    failures = await work(stopped.signal).then(
      () => 0,
      () => failures + 1,
    );
    isWorking = false;
    const pauseMs = failures === 0 ? everyMs : Math.min(RETRY_MS * 2 ** (failures - 1), MAX_FACTOR * everyMs);
    if (!stopped.signal.aborted) timer = setTimeout(round, pauseMs);
  };
  document.addEventListener('visibilitychange', round);
  void round();
  return () => {
    stopped.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', round);
  };
}
