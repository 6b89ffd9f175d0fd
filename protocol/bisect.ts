/** Finds, to this precision, the last value that passes the test, between one that passes and one that fails. */
export function bisect(passes: bigint, fails: bigint, precision: bigint, test: (at: bigint) => boolean): bigint {
  let [low, high] = [passes, fails];
  while (high - low > 1n && high - low > precision) {
    const middle = (low + high) >> 1n;
    if (test(middle)) low = middle;
    else high = middle;
  }
  return low;
}
