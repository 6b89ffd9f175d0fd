/**
 * Does work at once, then again after each end. Does not keep the process alive.
 *
 * @param work must not reject
 * @param pauseMs from an end to the next begin, milliseconds; as a function it is called at each end
 * @param isAtOnce false: a pause comes first
 * @returns stops the repetition; work that has begun continues
 */
export function startRepeating(
  work: () => Promise<void>,
  pauseMs: number | (() => number),
  isAtOnce = true,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const wait = () => {
    if (!stopped) timer = setTimeout(run, typeof pauseMs === 'number' ? pauseMs : pauseMs()).unref();
  };
  const run = () => work().then(wait);
  if (isAtOnce) void run();
  else wait();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
