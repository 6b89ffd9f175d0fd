import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { portProblem } from './free-port.ts';
import { listenError } from './listen-error.ts';

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test.each([
  ['1.2.3.4', async () => 0, /^HOST: cannot listen on 1\.2\.3\.4 \(EADDRNOTAVAIL\)$/],
  ['no-host.invalid', async () => 0, /^HOST: cannot listen on no-host\.invalid \((ENOTFOUND|EAI_AGAIN)\)$/],
  ['127.0.0.1', takenPort, /^OPERATIONS_PORT: cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)$/],
])('where nothing can listen on %s, the setting at fault is named', async (host, portOf, line) => {
  const port = await portOf();
  const cause = await portProblem(port, host);
  expect(cause).not.toBeNull();
  if (cause) expect(listenError('OPERATIONS_PORT', host, port, cause).message).toMatch(line);
});
