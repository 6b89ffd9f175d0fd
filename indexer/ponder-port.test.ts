import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test('where its port is taken Ponder ends in place of listening on the next one', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ponder = new URL('utils/port.js', import.meta.resolve('ponder')).href;
  const script = `
    const { endWithoutPort } = await import(${JSON.stringify(new URL('ponder-port.ts', import.meta.url).href)});
    const { getNextAvailablePort } = await import(${JSON.stringify(ponder)});
    endWithoutPort('127.0.0.1', ${port});
    const options = { port: ${port}, hostname: '127.0.0.1' };
    console.log(await getNextAvailablePort({ common: { options, logger: { warn: () => undefined } } }));`;
  const { exitCode, stdout, stderr } = await execa(process.execPath, ['--input-type=module', '-e', script], {
    reject: false,
  });
  server.close();
  const line = `PORT: cannot listen on 127.0.0.1:${port} (EADDRINUSE)`;
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 1, stdout: '', stderr: line });
});
