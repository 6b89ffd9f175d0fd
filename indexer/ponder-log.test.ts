import { execa } from 'execa';
import { expect, test } from 'vitest';
import { hideUrlSecrets } from '../config/url-secrets.ts';

test("Ponder's log lines go to standard error and show of a URL no more than its host", async () => {
  const message =
    'call to https://user:pass@node.example/v3/key?token=other failed\n\nDetails: "wss://h/key-2"; db: postgres://u:p@db/x';
  const script = `
    const { divertPonderLog } = await import(${JSON.stringify(new URL('ponder-log.ts', import.meta.url).href)});
    const { createLogger } = await import(${JSON.stringify(new URL('internal/logger.js', import.meta.resolve('ponder')).href)});
    divertPonderLog();
    const log = createLogger({ level: 'info', mode: 'json' });
    log.warn({ msg: ${JSON.stringify(message)}, error: new Error(${JSON.stringify(message)}) });`;
  const { stdout, stderr } = await execa(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toMatchObject({
    level: 40,
    msg: hideUrlSecrets(message),
    error: { message: hideUrlSecrets(message) },
  });
  expect(stderr).not.toMatch(/pass|key|other|u:p/);
});
