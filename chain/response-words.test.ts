import { expect, test } from 'vitest';
import { describeResponse } from './response-words.ts';

const URL_OF_NODE = 'https://user-1234:pass%2Fword@node.org/v2/key-of-a-node?token=another-key';
const responseOf = (text: string, headers = {}) => ({ status: 403, headers, text });

test.each([
  ['', 'status 403'],
  ['  Must be\n\tauthenticated!\x1b[2J ', 'status 403: Must be authenticated! [2J'],
  ['no plan for key-of-a-node on v2', 'status 403: no plan for … on v2'],
  ['another-key, user-1234, pass/word and pass%2Fword', 'status 403: …, …, … and …'],
  [`see ${URL_OF_NODE}`, 'status 403: see https://node.org'],
  [
    '<html><style>h1 { color: red }</style><h1>Forbidden</h1>\n<p>by <b>rule</b></p><script>a("<b>")</script>',
    'status 403: Forbidden by rule',
  ],
  ['x'.repeat(5_000_000), `status 403: ${'x'.repeat(200)}`],
])('%.40s', (text, described) => {
  expect(describeResponse(responseOf(text), URL_OF_NODE)).toBe(described);
});

test.each([
  ['/v2/key-of-a-node/', 'https://node.org'],
  ['http://other.org/key-of-a-node', 'http://other.org'],
])('a redirection to %s names the place alone', (location, origin) => {
  const described = describeResponse(responseOf('moved', { location }), URL_OF_NODE);
  expect(described).toBe(`status 403: redirects to ${origin}`);
});
