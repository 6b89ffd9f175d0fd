import { expect, test } from 'vitest';
import { RpcFailure, type RpcFailureCode } from '../chain/rpc-failure.ts';
import { BlockTooOldError, SnapshotError } from '../quoting/snapshot-error.ts';
import { type Fault, faultOf } from './fault.ts';

const FAULTS: Readonly<Record<RpcFailureCode, Fault>> = {
  unreachable: 'nodes',
  timeout: 'nodes',
  malformed: 'nodes',
  wrong_chain: 'nodes',
  paused: 'nodes',
  refused: 'unavailable',
  ignored: 'unavailable',
  moved: 'unavailable',
  aborted: 'unavailable',
  exhausted: 'unavailable',
};

test.each(Object.entries(FAULTS))(
  'a call that ends as %s is a fault of %s, whatever follows from it',
  (code, fault) => {
    const failure = new RpcFailure(code as RpcFailureCode, 'x');
    const read = (of: SnapshotError['code']) => new SnapshotError(of, 'the pool was not read', { cause: failure });
    for (const cause of [failure, read('read_failed'), read('timed_out'), new Error('x', { cause: failure })])
      expect([500, 502, 503].map((status) => faultOf(status, cause))).toEqual([fault, fault, fault]);
  },
);

test.each<[string, Fault, unknown]>([
  [
    'a node that limits requests',
    'nodes',
    new RpcFailure('refused', 'x', { code: -32_005, message: 'limit exceeded' }),
  ],
  ['a node that lacks a block', 'unavailable', new RpcFailure('refused', 'x', { code: -32_000, message: 'not found' })],
  ['a newest block that is too old', 'nodes', new BlockTooOldError('x')],
  ['a head that moved on', 'unavailable', new SnapshotError('timed_out', 'the chain advanced')],
  ['a pool that has no quote', 'pool', new SnapshotError('unavailable', 'x')],
  ['a pool that does not decode', 'pool', new SnapshotError('read_failed', 'x', { cause: new TypeError('x') })],
  [
    'a newest block too old to read at',
    'nodes',
    new SnapshotError('timed_out', 'x', { cause: new BlockTooOldError('x') }),
  ],
  ['a deadline', 'unavailable', undefined],
])('of %s the fault is %s', (_what, fault, cause) => {
  expect(faultOf(503, cause)).toBe(fault);
});
