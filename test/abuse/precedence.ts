import { writeFileSync } from 'node:fs';

/** Some eight times the weight of others, as `cpu_shares` in docker-compose.yml. */
const NICE = -10;
/** No right to it; the kernel does not group by session. Two cores are then shared evenly, and latencies are longer. */
const EXPECTED = ['EACCES', 'EPERM', 'ENOENT', 'EROFS'];

/**
 * Gives a process that leads a session precedence where cores are short. Linux shares them among sessions first, so
 * that priorities of processes count within one alone.
 */
export function givePrecedence(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(NICE));
  } catch (error) {
    if (!EXPECTED.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
