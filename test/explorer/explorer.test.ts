import { expect, test } from 'vitest';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { overflow, pathOf, startedExplorer, TIMEOUT_MS } from './explorer-pages.ts';
import { expectAppearance } from './screenshots.ts';
import { stopClock } from './still-clock.ts';

/* All pages together, and those without a file of their own. */

/** Of many pages. */
const LIMIT_MS = 300_000;
const PHONE = { width: 360, height: 740 };

const { world, emptyPage, open, close, scratchPage } = startedExplorer();

test('two pages look as they do in the README', { timeout: LIMIT_MS }, async () => {
  const scratch = await scratchPage();
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await emptyPage({ colorScheme, viewport: { width: 1180, height: 640 } });
    await world.listing.refresh();
    await world.mine();
    await stopClock(page);
    await page.goto('/?chain=31337&tier=green,yellow');
    // Of the listing and of four pools.
    await expect.poll(() => page.locator('.age.fresh').count(), { timeout: TIMEOUT_MS }).toBe(5);
    // What a busy service does not give in time is asked for again after a minute.
    await page
      .locator('.trend polyline')
      .first()
      .waitFor({ timeout: 3 * TIMEOUT_MS });
    await page.getByRole('button', { name: 'Keys' }).waitFor();
    await expectAppearance(page, scratch, `pools-${colorScheme}`);
    await page.goto(pathOf(world.pools[0]));
    await page.locator('dl.prices.fresh').waitFor();
    await page.locator('.candles canvas').first().waitFor();
    await page.locator('.depth canvas').waitFor();
    await page.locator('.trades').waitFor();
    await expectAppearance(page, scratch, `pool-${colorScheme}`);
    await close();
  }
  await scratch.close();
});

test('nothing serious is found by axe on any page, in either scheme, nor does a phone scroll sideways', {
  timeout: LIMIT_MS,
}, async () => {
  const { token0, token1 } = world.tokens;
  const route = `/route?chain=${CHAIN_A}&in=${token0}&out=${token1}&amount=30`;
  const paths: readonly (readonly [string, string])[] = [
    ['/?small=1', 'tr[data-pool]'],
    [pathOf(world.pools[0]), '.depth canvas'],
    [route, '.hops'],
    ['/status', 'tbody tr'],
    ['/glossary', 'dt'],
  ];
  for (const [colorScheme, viewport] of [
    ['light', { width: 1280, height: 800 }],
    ['dark', PHONE],
  ] as const) {
    const page = await open('/', { colorScheme, viewport });
    for (const [path, shown] of paths) {
      await page.goto(path);
      await page.locator(shown).first().waitFor();
      expect([path, colorScheme, await findings(page)]).toEqual([path, colorScheme, []]);
      expect([path, await overflow(page)]).toEqual([path, 0]);
    }
    await close();
  }
});

test('the status shows which chain is not followed, and how far a first sync is', async () => {
  const page = await open('/status');
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: 'Devnet-B' }).getByText('not following').waitFor();
  const syncing = rows.filter({ hasText: 'devnet-c' }).getByText('first sync 43%');
  await syncing.waitFor();
  expect(await syncing.getAttribute('title')).toBe('430 of 1,000 blocks, 1,234 events');
  await close();
});

test('an address of the page that is none says so, and one of the API is the API', async () => {
  const page = await open('/pool/31337/0x12');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.goto(`/pool/${CHAIN_A}/0x${'ee'.repeat(20)}`);
  await page.getByRole('heading', { name: 'This pool is not listed' }).waitFor();
  await close();
});

test('the page of the documents shows and runs operations under a policy without inline styles', async () => {
  const page = await open('/docs');
  const operations = page.locator('.opblock-summary');
  await operations.first().waitFor();
  expect(await operations.count()).toBeGreaterThan(9);
  await operations.last().click();
  await page.locator('.opblock.is-open .highlight-code').first().waitFor();
  await operations.first().click();
  const first = page.locator('.opblock').first();
  await first.getByRole('button', { name: 'Try it out' }).click();
  await first.getByRole('button', { name: 'Execute' }).click();
  await first.locator('.live-responses-table').getByText('chainId').first().waitFor();
  await page.locator('.authorize').first().click();
  await page.locator('.modal-ux').waitFor();
  await close();
});

test('an empty index is reported, not shown as loading', async () => {
  await world.listing.pool.query('DELETE FROM operator.listed_pool');
  await world.listing.pool.query('DELETE FROM operator.pool_listing');
  await world.listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
  const page = await open('/');
  await page.getByText('No pool matches. Pools below $10 or unpriced are hidden unless asked for.').waitFor();
  expect(await page.locator('.skeleton').count()).toBe(0);
  await close();
});
