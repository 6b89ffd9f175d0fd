/** Unix milliseconds with fractions: comparable between the processes of one machine. */
export const millisecondsNow = (): number => performance.timeOrigin + performance.now();
