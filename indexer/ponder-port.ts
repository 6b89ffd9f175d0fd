import { subscribe } from 'node:diagnostics_channel';
import { listenError } from '../runtime/listen-error.ts';

/**
 * Ends this process with one line once it cannot listen. Ponder would silently use the next port, where nobody looks
 * for it, when another process took its own since that was found free.
 */
export function endWithoutPort(host: string, port: number): void {
  subscribe('tracing:net.server.listen:error', (message) => {
    const { error: cause } = message as { readonly error: NodeJS.ErrnoException };
    const error = listenError('PORT', host, port, cause);
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  });
}
