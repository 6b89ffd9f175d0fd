/**
 * Does work at once, then again `pauseMs` after each end. Does not keep the process alive.
 *
 * @param work must not reject
 * @returns stops the repetition; work that has begun continues
 */
export function startRepeating(work: () => Promise<void>, pauseMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const run = async () => {
    await work();
    if (!stopped) timer = setTimeout(run, pauseMs).unref();
  };
  void run();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
