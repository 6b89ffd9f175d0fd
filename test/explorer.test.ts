import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findings } from './explorer/axe.ts';
import { launchBrowser, type Visit, visit } from './explorer/browser.ts';
import { expectAppearance } from './explorer/screenshots.ts';
import { addQuoteSample, addTrade, HOSTILE_SYMBOL } from './explorer/seed-market.ts';
import { stopClock } from './explorer/still-clock.ts';
import { type ExplorerWorld, startExplorerWorld } from './explorer/world.ts';
import { CHAIN_A, CHAIN_B } from './metadata/listing-fixture.ts';

/** Of a busy machine. */
const TIMEOUT_MS = 30_000;
const PHONE = { width: 360, height: 740 };

let world: ExplorerWorld;
let browser: Browser;
let opened: Visit;

beforeAll(async () => {
  [world, browser] = await Promise.all([startExplorerWorld(), launchBrowser()]);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

/**
 * Opens a path; what went wrong in the page is looked at by {@link close}. A new block first: the chain stands still
 * otherwise, and what was read for an earlier page would be late on a slow machine.
 */
async function open(path: string, options: Parameters<typeof visit>[2] = {}): Promise<Page> {
  await world.mine();
  opened = await visit(browser, world.url, options);
  opened.page.setDefaultTimeout(TIMEOUT_MS);
  await opened.page.goto(path);
  return opened.page;
}

/** Browsers report refused streams of the second chain, which no node serves. */
const REFUSED = new RegExp(`/evm/${CHAIN_B}/ws' failed|status of 503`);

/** @param expected errors that a test means to cause */
async function close(expected = /^$/): Promise<void> {
  expect(opened.errors.filter((error) => !expected.test(error) && !REFUSED.test(error))).toEqual([]);
  expect(opened.foreign).toEqual([]);
  await opened.close();
}

const rows = (page: Page) => page.locator('tbody tr[data-pool]');
const pathOf = (pool: { readonly address: string }) => `/pool/${CHAIN_A}/${pool.address}`;
const figure = (page: Page, term: string) => page.locator(`[data-figure=${term}]`);

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

test('two pages look as they do in the README', async () => {
  const scratch = await browser.newPage();
  for (const colorScheme of ['light', 'dark'] as const) {
    opened = await visit(browser, world.url, { colorScheme, viewport: { width: 1180, height: 640 } });
    const { page } = opened;
    page.setDefaultTimeout(TIMEOUT_MS);
    await world.listing.refresh();
    await world.mine();
    await stopClock(page);
    await page.goto('/?chain=31337&tier=green,yellow');
    // Of the listing and of four pools.
    await expect.poll(() => page.locator('.age.fresh').count(), { timeout: TIMEOUT_MS }).toBe(5);
    await expectAppearance(page, scratch, `pools-${colorScheme}`);
    await page.goto(pathOf(world.pools[0]));
    await page.locator('dl.prices.fresh').waitFor();
    await page.locator('.depth canvas').waitFor();
    await page.locator('.trades').waitFor();
    await expectAppearance(page, scratch, `pool-${colorScheme}`);
    await close();
  }
  await scratch.close();
});

describe('the list', () => {
  test('is asked for once, beside the scripts', async () => {
    const page = await open('/');
    await rows(page).first().waitFor();
    const requested = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/evm/metadata?'))`;
    expect(await page.evaluate(`${requested}.map(({ initiatorType }) => initiatorType)`)).toEqual(['link']);
    await close();
  });

  test('shows pools with live prices, full numbers on hover, and why a pool is not green', async () => {
    const page = await open('/?chain=31337');
    const first = page.locator(`tr[data-pool="${world.pools[0].address}"]`);
    await first.getByText(/2,999/).waitFor();
    expect(await first.locator('td.figure').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^2,999[\d.]+\s+3,000[\d.]+$/), '$288K', '4.6 bps']),
    );
    expect(await first.getByText('$288K').getAttribute('title')).toBe('$288,000.00');
    const reasons = page.locator(`tr[data-pool="${world.pools[1].address}"] .reasons a`);
    expect(await reasons.allInnerTexts()).toEqual(['curator unverified', 'stop loss can change']);
    await reasons.first().click();
    await page.getByRole('heading', { name: 'Glossary' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#curator_unverified');
    await close();
  });

  test('filters, sorts, searches and pages, and every view has an address', async () => {
    const page = await open('/');
    await rows(page).nth(24).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('26 to 50 of').waitFor();
    expect(page.url()).toBe(`${world.url}/?offset=25`);
    await page.getByLabel('Search').fill('usdc/we');
    await page.getByText('2 found').waitFor();
    expect(await rows(page).count()).toBe(2);
    await page.getByLabel('yellow').check();
    await page.getByText('1 found').waitFor();
    await page.reload();
    await page.getByText('1 found').waitFor();
    expect(await page.getByLabel('yellow').isChecked()).toBe(true);
    await page.goBack();
    await page.getByText('2 found').waitFor();
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No pool matches').waitFor();
    await page.goto('/?chain=31338&sort=tvl&order=asc&small=1');
    await rows(page).first().getByText('$').first().waitFor();
    expect(await rows(page).count()).toBe(25);
    await close();
  });

  test('a hostile name is text, and moves nothing', async () => {
    opened = await visit(browser, world.url);
    const { page } = opened;
    page.setDefaultTimeout(TIMEOUT_MS);
    // The service shows texts of tokens cleaned: the page does not rely on that.
    await page.route('**/metadata?*', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { data: { poolAddress: string; token0Symbol?: string }[] };
      for (const pool of json.data) if (pool.poolAddress === world.hostile.address) pool.token0Symbol = HOSTILE_SYMBOL;
      await route.fulfill({ response, json });
    });
    await page.goto('/?chain=31337');
    const row = page.locator(`tr[data-pool="${world.hostile.address}"]`);
    await row.waitFor();
    expect(await row.locator('bdi.name').first().textContent()).toBe(HOSTILE_SYMBOL);
    expect(await row.locator('img, script').count()).toBe(0);
    for (const path of [pathOf(world.hostile), `/route?chain=${CHAIN_A}`]) {
      await page.goto(path);
      await page.getByText('img src').first().waitFor({ state: 'attached' });
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await overflow(page)).toBe(0);
    }
    await close();
  });
});

describe('a pool', () => {
  test('moves with trades: price, depth, and the list of them', async () => {
    const page = await open(pathOf(world.pools[0]));
    await figure(page, 'bid').getByText('2,999').waitFor();
    await page.locator('.depth canvas').waitFor();
    await page.getByText('Levels in numbers').click();
    const levels = page.locator('.levels table').last().locator('tbody tr');
    await levels.first().waitFor();
    const before = await levels.allInnerTexts();
    await world.buy(5n);
    await addTrade(world.listing, world.pools[0].address, 2_000);
    await expect.poll(() => levels.allInnerTexts(), { timeout: TIMEOUT_MS }).not.toEqual(before);
    await page.locator('.trades').getByText('12.345').waitFor();
    await world.movePrice(3_100);
    await figure(page, 'bid')
      .getByText(/3,0[89]\d|3,1\d\d/)
      .waitFor();
    await close();
  });

  test('history is asked for once it comes into view: candles of trades as the API has them, and days', async () => {
    const { address } = world.pools[0];
    await addTrade(world.listing, address, 3_000);
    await addQuoteSample(world.listing, address);
    const page = await open(pathOf(world.pools[0]), { viewport: { width: 1_180, height: 200 } });
    await figure(page, 'bid').getByText(/\d/).waitFor();
    const requested = `performance.getEntriesByType('resource').filter(({ name }) => /ohlcv|candle/.test(name)).length`;
    expect(await page.evaluate(requested)).toBe(0);
    await page.getByRole('heading', { name: 'History' }).scrollIntoViewIfNeeded();
    const chart = page.locator('.candles canvas').first();
    await chart.waitFor();
    const response = await fetch(`${world.url}/public/v1/evm/${CHAIN_A}/${address}/ohlcv?interval=1h`);
    const { data } = (await response.json()) as { data: { closeX64: string }[] };
    expect(data.length).toBeGreaterThan(0);
    await page.setViewportSize({ width: 1_180, height: 900 });
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    // The newest candle stands at the right end.
    const shown = async () => {
      for (let x = (box?.width ?? 0) - 1; x > 0; x -= 3) {
        await page.mouse.move((box?.x ?? 0) + x, (box?.y ?? 0) + 100);
        const text = await page.locator('.candles figcaption').textContent();
        if (text?.includes('close')) return text;
      }
      return '';
    };
    const price = Number(BigInt(data[0]?.closeX64 ?? 0)) / 2 ** 64;
    await expect
      .poll(shown, { timeout: TIMEOUT_MS })
      .toContain(`close ${price.toLocaleString('en', { minimumSignificantDigits: 6, maximumSignificantDigits: 6 })}`);
    const row = page.locator('.days tbody tr').first();
    await row.waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: '5m' }).click();
    await page.getByRole('button', { name: '5m', pressed: true }).waitFor();
    // What can be bought is shown at its price.
    await expect.poll(shown, { timeout: TIMEOUT_MS }).toContain('mid 3,000.50, depth 4.5K and 4.502K');
    await close();
  });

  test('the chart reports price, volume and impact below the pointer', async () => {
    const page = await open(pathOf(world.pools[1]));
    const box = await page.locator('.depth canvas').boundingBox();
    expect(box).not.toBeNull();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) * 0.9, (box?.y ?? 0) + 100);
    await expect
      .poll(() => page.locator('.depth figcaption').textContent(), { timeout: TIMEOUT_MS })
      .toMatch(/^Buy up to price 3,0[\d.]+: [\d.]+ WETH for [\d.,]+ USDC, impact \d\.\d\d%$/);
    const trade = page.getByText('Nobody has traded here yet.');
    await trade.waitFor();
    const link = page.getByRole('link', { name: world.pools[1].address.slice(0, 8) });
    expect(await link.getAttribute('href')).toBe(`https://explorer.example/address/${world.pools[1].address}`);
    expect(await link.getAttribute('rel')).toContain('noopener');
    await close();
  });

  test('while the node is dead old prices age, turn amber and red; then they are new again', async () => {
    opened = await visit(browser, world.url);
    const { page } = opened;
    page.setDefaultTimeout(TIMEOUT_MS);
    await world.mine();
    const pass = await stopClock(page);
    await page.goto(pathOf(world.pools[1]));
    const prices = page.locator('dl.prices');
    await figure(page, 'bid').getByText(/3,/).waitFor();
    await expect.poll(() => prices.getAttribute('class'), { timeout: TIMEOUT_MS }).toBe('prices price fresh');
    world.node.misbehave({ kind: 'down' });
    await page.getByText('Trying again').waitFor();
    await pass(35_000);
    await prices.and(page.locator('.amber')).getByText('(late)').waitFor();
    expect(await findings(page)).toEqual([]);
    await pass(60_000);
    await prices.and(page.locator('.red')).getByText('(stale)').waitFor();
    expect(await findings(page)).toEqual([]);
    expect(await figure(page, 'bid').textContent()).toMatch(/^3,/);
    world.node.misbehave(null);
    await world.movePrice(3_000);
    await pass(30_000);
    const failures = async () => {
      // On a busy machine the attempt at 30 s comes before the service has the new head: the next one is not waited for.
      await pass(1_000);
      return page.getByText('Trying again').count();
    };
    await expect.poll(failures, { timeout: TIMEOUT_MS }).toBe(0);
    await close(/Failed to load resource|WebSocket connection/);
  });
});

test('a route: the plan in words, a worst case, errors in words, and a line that works', async () => {
  const { token0, token1 } = world.tokens;
  const page = await open(`/route?chain=${CHAIN_A}`);
  await page.getByRole('combobox', { name: 'Pay' }).selectOption(token0);
  await page.getByRole('combobox', { name: 'Receive' }).selectOption(token1);
  await page.getByLabel('Amount').fill('30');
  await page.getByRole('button', { name: 'Quote' }).click();
  await page.getByText('You receive').waitFor();
  expect(await page.locator('.hops > li').count()).toBe(2);
  const line = await page.locator('.curl code').textContent();
  expect(line).toContain(`"amountIn":"30000000000000000000"`);
  await page.getByRole('combobox', { name: 'Fixed' }).selectOption('exact_out');
  await page.getByLabel('Amount').fill('1000');
  await page.getByRole('button', { name: 'Quote' }).click();
  await page.getByText('At most').waitFor();
  await page.getByLabel('Amount').fill('99000000');
  await page.getByRole('button', { name: 'Quote' }).click();
  await page.getByText('No path is deep enough').waitFor();
  await close(/Failed to load resource.*422/);
});

test('nothing serious is found by axe on any page, in either scheme, nor does a phone scroll sideways', async () => {
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
  await page.getByText('No pool matches').waitFor();
  expect(await page.locator('.skeleton').count()).toBe(0);
  await close();
});
