/** A timer that is later than this ran in a process that stood still. */
const LATE_MS = 250;
/** Most of that time that others get. */
const MAX_GRACE_MS = 1_000;

/**
 * Does work until it ends, or until the time is over: then its signal aborts, with the reason of
 * `AbortSignal.timeout`. Others did not have the time in which this process stood still: they get up to a second more.
 *
 * @throws what the work throws
 */
export async function withTimeLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException(`it took over ${ms} ms`, 'TimeoutError'));
  const dueAt = performance.now() + ms;
  let timer = setTimeout(() => {
    const lateMs = performance.now() - dueAt;
    if (lateMs < LATE_MS) end();
    else timer = setTimeout(end, Math.min(lateMs, ms, MAX_GRACE_MS));
  }, ms);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}
