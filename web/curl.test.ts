import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { curlOf, shellQuote } from './curl.ts';

test('a shell reads any quoted text as one word', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((text) => !/[\0\r\n]|[\ud800-\udfff]/u.test(text)),
      (text) => {
        expect(execFileSync('sh', ['-c', `printf %s ${shellQuote(text)}`], { encoding: 'utf8' })).toBe(text);
      },
    ),
    { numRuns: runs(10) },
  );
});

test('a line holds no key, and the body of a POST', () => {
  expect(curlOf('http://x', '/a?b=1&c=2')).toBe("curl -s 'http://x/a?b=1&c=2'");
  expect(curlOf('http://x', '/a', { b: "it's" })).toBe(
    `curl -s -H 'Content-Type: application/json' -d '{"b":"it'\\''s"}' 'http://x/a'`,
  );
});
