import pg from 'pg';
import { expect, test } from 'vitest';
import { StreamConfig } from '../../config/stream-schema.ts';
import { issueApiKey, revokeApiKey, rotateApiKey } from '../../db/api-keys.ts';
import { createLogger } from '../../runtime/logger.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { type Connection, Connections, startKeyChecks } from './connections.ts';

const database = migratedDatabase();

/** Shows how often the keys were looked at. */
class CountedConnections extends Connections {
  rounds = 0;

  override get keyIds(): string[] {
    this.rounds += 1;
    return super.keyIds;
  }

  /** Until what began before is over. */
  nextRounds(): Promise<void> {
    const seen = this.rounds;
    return expect.poll(() => this.rounds).toBeGreaterThan(seen + 1);
  }
}

test('connections of a revoked key are reported; those of other keys are not, nor while the database is unreachable', async () => {
  const [revoked, rotated, kept] = await Promise.all(['a', 'b', 'c'].map((label) => issueApiKey(database.pool, label)));
  if (!revoked || !rotated || !kept) throw new Error('no keys');
  await revokeApiKey(database.pool, revoked.keyId);
  // Its holder has time to change to the new one.
  await rotateApiKey(database.pool, rotated.keyId, 3_600);
  const connections = new CountedConnections(StreamConfig.parse({}));
  const reported: string[] = [];
  for (const { keyId } of [revoked, rotated, kept]) {
    const end = () => {
      reported.push(keyId);
      connections.remove(connection);
    };
    const connection: Connection = { transport: 'sse', address: '10.0.0.1', keyId, end };
    connections.add(connection);
  }
  const startChecks = (of: pg.Pool) => startKeyChecks(connections, of, createLogger('test', 'silent'), 20);
  const unreachable = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  const stopFailing = startChecks(unreachable);
  await connections.nextRounds();
  stopFailing();
  expect(reported).toEqual([]);
  const stop = startChecks(database.pool);
  await expect.poll(() => reported).toEqual([revoked.keyId]);
  await connections.nextRounds();
  expect(reported).toEqual([revoked.keyId]);
  stop();
  await unreachable.end();
});
