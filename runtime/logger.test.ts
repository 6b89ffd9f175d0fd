import { execa } from 'execa';
import { expect, test } from 'vitest';

/** The logger writes to the standard error of its process. */
const PROGRAM = `
  import { createLogger } from './runtime/logger.ts';
  const logger = createLogger('test', 'info');
  const secret = 'Bearer ptd_secret';
  logger.info({ authorization: secret, headers: { authorization: secret }, request: { authorization: secret } }, 'a request');
  logger.info({ apiKey: secret, builder: { apiKey: secret }, login: { password: secret } }, 'settings');
  const command = { name: 'evalsha', args: ['3', 'AUTH', 'default', 'ptd_secret', '{"tx":"0x02secret"}'] };
  logger.warn({ err: Object.assign(new Error('OOM command not allowed'), { command }) }, 'a refused command');
  logger.error({ err: new Error('https://name:ptd_secret@node.example/ptd_secret?key=ptd_secret failed') }, 'a call');
`;

test('no line holds a key, a password, or more of a URL than its host', async () => {
  const { stderr } = await execa(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM]);
  expect(stderr.split('\n')).toHaveLength(4);
  expect(stderr).toContain('https://node.example failed');
  expect(stderr).not.toContain('secret');
});
