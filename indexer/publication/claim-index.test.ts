import { expect, onTestFinished, test } from 'vitest';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { claimIndex } from './claim-index.ts';
import { FIRST_SCHEMA } from './index-schemas.ts';
import { SchemaLock } from './schema-lock.ts';

const home = migratedDatabase();

/** Starts to claim the first index. `lines`: what it logs. */
function claim() {
  const lines: string[] = [];
  const log = (_fields: object, message: string) => lines.push(message);
  const claimed = claimIndex(home.url, null, false, { info: log, warn: log } as never);
  onTestFinished(async () => {
    const { lock, database } = await claimed;
    await lock.release();
    await database.end();
  });
  return { lines, claimed };
}

test('an indexer that waits for another one says so, once', async () => {
  const other = new SchemaLock(home.url, FIRST_SCHEMA);
  onTestFinished(() => other.release());
  await other.keep();
  const { lines, claimed } = claim();
  await expect.poll(() => lines).toEqual(['waiting until another indexer ends, which writes the schema']);
  await other.release();
  await claimed;
  expect(lines).toHaveLength(1);
});

test('an indexer that waits until cached logs are removed says so', async () => {
  const remover = await home.pool.connect();
  onTestFinished(() => remover.release(true));
  await remover.query('BEGIN');
  await remover.query('SELECT pg_advisory_xact_lock($1, 0)', [ADVISORY_LOCKS.indexCache]);
  const { lines, claimed } = claim();
  await expect.poll(() => lines).toEqual(['waiting until a backfill has removed cached logs, which may take hours']);
  await remover.query('COMMIT');
  await claimed;
  expect(lines).toHaveLength(1);
});
