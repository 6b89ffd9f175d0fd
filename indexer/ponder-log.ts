import { hideUrlSecrets } from '../config/url-secrets.ts';

/** Has the log of Ponder, which writes to standard output, go where ours goes, and show of a URL no more than its host. */
export function divertPonderLog(): void {
  process.stdout.write = (line: string | Uint8Array) => process.stderr.write(hideUrlSecrets(String(line)));
}
