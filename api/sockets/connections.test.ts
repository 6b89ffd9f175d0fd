import { expect, test } from 'vitest';
import { StreamConfig } from '../../config/stream-schema.ts';
import { ApiError } from '../errors.ts';
import { type Connection, Connections } from './connections.ts';

const connectionsOf = (bounds: Partial<StreamConfig>) => new Connections({ ...StreamConfig.parse({}), ...bounds });
/** Of an address, or of a key when one is named. */
const connectionOf = (
  address: string,
  keyId: string | null = null,
  end: Connection['end'] = () => undefined,
): Connection => ({
  transport: keyId === null ? 'sse' : 'websocket',
  address,
  keyId,
  end,
});

/** The answer to a connection that is refused; null when it is taken. */
async function refusal(attempt: () => unknown): Promise<readonly [number, string | undefined] | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.status, error.headers['Retry-After']];
  }
}

test('a full process refuses with 503, whoever asks', async () => {
  const connections = connectionsOf({ connections: 2 });
  const first = connectionOf('10.0.0.1');
  connections.add(first);
  connections.add(connectionOf('10.0.0.2', 'k1'));
  expect(connections.byTransport).toEqual({ sse: 1, websocket: 1 });
  const last = connectionOf('10.0.0.3', 'k2');
  expect(await refusal(() => connections.add(last))).toEqual([503, '10']);
  connections.remove(first);
  expect(await refusal(() => connections.add(last))).toBeNull();
});

test('too many of one address are refused with 429, another and a key behind it are not', async () => {
  const connections = connectionsOf({ connectionsPerAddress: 1 });
  connections.add(connectionOf('10.0.0.1'));
  expect(await refusal(() => connections.add(connectionOf('10.0.0.1')))).toEqual([429, '10']);
  expect(await refusal(() => connections.add(connectionOf('10.0.0.2')))).toBeNull();
  expect(await refusal(() => connections.add(connectionOf('10.0.0.1', 'k1')))).toBeNull();
});

test('more than 200 of one key are refused with 429, another is not', async () => {
  const connections = connectionsOf({});
  for (let count = 0; count < 200; count++) connections.add(connectionOf(`10.0.0.${count}`, 'k1'));
  expect(await refusal(() => connections.add(connectionOf('10.0.1.1', 'k1')))).toEqual([429, '10']);
  expect(await refusal(() => connections.add(connectionOf('10.0.1.1', 'k2')))).toBeNull();
});

test('a connection is taken out of the count once, in however many ways it ends', async () => {
  const connections = connectionsOf({ connectionsPerAddress: 2 });
  const first = connectionOf('10.0.0.1');
  connections.add(first);
  connections.add(connectionOf('10.0.0.1'));
  for (let times = 0; times < 2; times++) connections.remove(first);
  expect(connections.size).toBe(1);
  connections.add(connectionOf('10.0.0.1'));
  expect(await refusal(() => connections.add(connectionOf('10.0.0.1')))).toEqual([429, '10']);
});

test('a connection that shows a key makes room for its address, and keeps its place if the key has none', async () => {
  const connections = connectionsOf({ connectionsPerAddress: 1 });
  for (let count = 0; count < 199; count++) connections.add(connectionOf('10.0.0.9', 'k1'));
  const [first, second] = [connectionOf('10.0.0.1'), connectionOf('10.0.0.1')];
  connections.add(first);
  connections.useKey(first, 'k1');
  connections.add(second);
  expect(await refusal(() => connections.useKey(second, 'k1'))).toEqual([429, '10']);
  expect(await refusal(() => connections.add(connectionOf('10.0.0.1')))).toEqual([429, '10']);
  expect([connections.size, connections.keyIds]).toEqual([201, ['k1']]);
});

test('the connections of a key are ended, those of others are not', async () => {
  const connections = connectionsOf({});
  const ended: string[] = [];
  for (const keyId of ['k1', 'k2', 'k1']) {
    const connection = connectionOf('10.0.0.1', keyId, () => {
      ended.push(keyId);
      connections.remove(connection);
    });
    connections.add(connection);
  }
  connections.add(connectionOf('k1', null, () => void ended.push('address')));
  connections.end('key_revoked', 'k1');
  expect(ended).toEqual(['k1', 'k1']);
  connections.end('shutdown');
  expect(ended.slice(2)).toEqual(['k2', 'address']);
});
