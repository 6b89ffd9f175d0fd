import { expect, test } from 'vitest';
import { StreamConfig } from '../../config/stream-schema.ts';
import { ApiError } from '../errors.ts';
import { type ConnectionBounds, ConnectionLimits, type ConnectionOwner } from './connection-limits.ts';

const limitsOf = (bounds: Partial<ConnectionBounds>) => new ConnectionLimits({ ...StreamConfig.parse({}), ...bounds });
const ignore = () => undefined;

/** The answer to a connection that is refused; null when it is taken. */
function refusal(attempt: () => unknown): readonly [number, string | undefined] | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.headers['Retry-After']];
  }
}

test('a full process refuses with 503, whoever asks', () => {
  const limits = limitsOf({ connections: 2 });
  const first = limits.open({ address: '10.0.0.1' }, 'sse', ignore);
  limits.open({ keyId: 'k1' }, 'websocket', ignore);
  expect(limits.byTransport).toEqual({ sse: 1, websocket: 1 });
  expect(refusal(() => limits.open({ keyId: 'k2' }, 'sse', ignore))).toEqual([503, '10']);
  first.free();
  expect(refusal(() => limits.open({ keyId: 'k2' }, 'sse', ignore))).toBeNull();
});

test.each<[string, ConnectionOwner, ConnectionOwner]>([
  ['address', { address: '10.0.0.1' }, { address: '10.0.0.2' }],
  ['key', { keyId: 'k1' }, { keyId: 'k2' }],
])('too many of one %s are refused with 429, another is not', (_name, one, other) => {
  const limits = limitsOf({ connectionsPerAddress: 1, connectionsPerKey: 1 });
  limits.open(one, 'sse', ignore);
  expect(refusal(() => limits.open(one, 'sse', ignore))).toEqual([429, '10']);
  expect(refusal(() => limits.open(other, 'sse', ignore))).toBeNull();
});

test('a connection is freed once, in however many ways it ends', () => {
  const limits = limitsOf({ connectionsPerAddress: 2 });
  const owner = { address: '10.0.0.1' };
  const first = limits.open(owner, 'sse', ignore);
  limits.open(owner, 'sse', ignore);
  first.free();
  first.free();
  expect(limits.size).toBe(1);
  limits.open(owner, 'sse', ignore);
  expect(refusal(() => limits.open(owner, 'sse', ignore))).toEqual([429, '10']);
});

test('a connection that shows a key makes room for its address, and keeps its place if the key has none', () => {
  const limits = limitsOf({ connectionsPerAddress: 1, connectionsPerKey: 1 });
  const owner = { address: '10.0.0.1' };
  limits.open(owner, 'sse', ignore).moveTo('k1');
  const second = limits.open(owner, 'sse', ignore);
  expect(refusal(() => second.moveTo('k1'))).toEqual([429, '10']);
  expect(refusal(() => limits.open(owner, 'sse', ignore))).toEqual([429, '10']);
  second.free();
  second.moveTo('k2');
  expect([limits.size, limits.keyIds]).toEqual([1, ['k1']]);
});

test('the connections of a revoked key are told, those of others are not', () => {
  const limits = limitsOf({});
  const told: string[] = [];
  for (const keyId of ['k1', 'k2', 'k1']) {
    const connection = limits.open({ keyId }, 'sse', () => {
      told.push(keyId);
      connection.free();
    });
  }
  limits.open({ address: 'k1' }, 'sse', () => told.push('address'));
  limits.revoke('k1');
  expect(told).toEqual(['k1', 'k1']);
});
