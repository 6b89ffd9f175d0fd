import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ApiError, unavailable } from '../api/errors.ts';
import { RpcFailure } from '../chain/rpc-failure.ts';
import { InterruptedError } from '../indexer/backfill/interrupted.ts';
import { ReadModelMismatchError } from '../indexer/publication/live-views.ts';
import { SnapshotError } from '../quoting/snapshot-error.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';
import { productionSources } from '../test/harness/production-sources.ts';
import { ConfigError } from './config-error.ts';

/** The client is a package of its own, with errors of its own. */
const isOfProcess = (file: string) => !file.startsWith('client/');
const BUILT_IN = /class \w+ extends (?:\w+\.)?(?:Error|AggregateError|EvalError|RangeError|SyntaxError|TypeError)\b/g;

test('no error of ours but the base class extends one that is built in', async () => {
  const texts = await Promise.all(
    productionSources()
      .filter(isOfProcess)
      .map((file) => readFile(join(PROJECT_ROOT, file), 'utf8')),
  );
  const found = texts.flatMap((text) => [...text.matchAll(BUILT_IN)]);
  expect(found.flat()).toEqual(['class AppError extends Error']);
});

test('the message joins its short form and the details', () => {
  const cause = new Error('column "tvl" does not exist');
  const error = new ReadModelMismatchError('the view does not fit', { details: cause.message, cause });
  expect(error).toMatchObject({
    name: 'ReadModelMismatchError',
    code: 'READ_MODEL_MISMATCH',
    message: 'the view does not fit: column "tvl" does not exist',
    shortMessage: 'the view does not fit',
    cause,
  });
  expect(new ConfigError('PORT: not a number')).toMatchObject({ message: 'PORT: not a number' });
});

test.each([
  [new ConfigError('PORT: not a number'), false, 1],
  [new ReadModelMismatchError('the view does not fit'), false, 1],
  [new RpcFailure('refused', 'reverted'), false, 1],
  [new RpcFailure('timeout', 'no answer'), true, 75],
  [new SnapshotError('timed_out', 'no answer'), true, 75],
  [new ApiError(422, { error: 'no route', code: 'no_route' }), false, 1],
  [unavailable(), true, 75],
  [new InterruptedError('SIGINT'), true, 130],
])('$name says whether trying again may help, and its exit code', (error, retryable, exitCode) => {
  expect(error).toMatchObject({ retryable, exitCode });
});

test('the code of an answer is that of its body, otherwise its status', () => {
  const codes = [new ApiError(422, { error: 'no route', code: 'no_route' }), unavailable(), new ApiError(400, 'text')];
  expect(codes.map(({ code }) => code)).toEqual(['no_route', 'http_503', 'http_400']);
});
