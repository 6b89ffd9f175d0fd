import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOnchainTables, ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { openWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { CHAINS, ChangingIndex, INDEX_TABLES, POOLS } from './changing-index.fixture.ts';
import { anyAction } from './index-changes.fixture.ts';

const ROUNDS = runs(30);

const world = openWorld(async (ends) => ({ index: await ChangingIndex.open(ends) }));

test('after any changes the listing is what a computation of every pool gives', async () => {
  await world.index.refresh();
  let count = 0;
  for (const actions of fc.sample(fc.array(anyAction, { minLength: 1, maxLength: 3 }), ROUNDS)) {
    for (const action of actions) await action(world.index);
    count += (await world.index.refresh()) ?? 0;
    expect(await world.index.published()).toEqual(await world.index.computedWhole());
  }
  // A pool is computed because it changed.
  expect(count).toBeLessThan((ROUNDS * POOLS * CHAINS.length) / 2);
});

test('once another index serves, the listing is what that one reports', async () => {
  await createOnchainTables(world.index.sql, 'onchain_next');
  for (const name of [...INDEX_TABLES, '_ponder_checkpoint']) {
    await world.index.sql.query(`INSERT INTO onchain_next.${name} TABLE ${ONCHAIN_SCHEMA}.${name}`);
  }
  await world.index.sql.query(`UPDATE onchain_next.pool_state SET cur_bin_idx = 3; DELETE FROM onchain_next.pool
    WHERE address = (SELECT min(address) FROM onchain_next.pool)`);
  await world.index.refresh();
  const shown = await world.index.published();
  expect(shown).toEqual(await world.index.computedWhole());
});
