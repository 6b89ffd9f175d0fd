import { hideUrlSecrets } from '../config/url-secrets.ts';

/** Sends Ponder's log from standard output to standard error, where ours goes. Shortens URLs in it to their host. */
export function divertPonderLog(): void {
  process.stdout.write = (line: string | Uint8Array) => process.stderr.write(hideUrlSecrets(String(line)));
}
