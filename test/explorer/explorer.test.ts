import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RoutePlan } from '../../api/route/route-response.ts';
import { startedWorld } from '../harness/open-world.ts';
import { CHAIN_A, CHAIN_B } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { launchBrowser, type Visit, visit } from './browser.ts';
import { expectAppearance } from './screenshots.ts';
import { addQuoteSample, addTrade, HOSTILE_SYMBOL, OTHERS, storeTrends } from './seed-market.ts';
import { stopClock } from './still-clock.ts';
import { startExplorerWorld } from './world.ts';

/** Of a busy machine. */
const TIMEOUT_MS = 30_000;
const PHONE = { width: 360, height: 740 };

const world = startedWorld(startExplorerWorld);
let browser: Browser;
let opened: Visit;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

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

const poolsOn = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('tr[data-pool]')].map((row) => row.dataset.pool)`);

/** Full US dollars in a column. */
async function titles(page: Page, place: string, column: number): Promise<number[]> {
  const cells = `document.querySelectorAll('${place} td:nth-of-type(${column})')`;
  const texts = await page.evaluate<string[]>(`[...${cells}].map(({ title }) => title)`);
  return texts.map((text) => Number(text.replaceAll(/[$,]/g, '')));
}

/** Requests a route. */
const post = async (body: object) => {
  const response = await fetch(`${world.url}/public/v1/evm/${CHAIN_A}/route`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as RoutePlan;
};

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Labels of the chart's time axis that touch one of its ends. */
const cutLabels = (page: Page) =>
  page.evaluate<number>(`(() => {
    const axis = document.querySelector('.candles tr:last-child td:nth-child(2) canvas');
    const data = axis.getContext('2d').getImageData(0, 3, axis.width, axis.height - 6).data;
    const inked = (x) => Array.from({ length: axis.height - 6 }, (_, y) => data[(y * axis.width + x) * 4 + 3]).some(Boolean);
    return [0, 1, axis.width - 2, axis.width - 1].filter(inked).length;
  })()`);

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
    await page.locator('.trend polyline').first().waitFor();
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

  test('shows a day in each row, and sorts by it', async () => {
    const { address } = world.pools[0];
    await addQuoteSample(world.listing, address);
    await storeTrends(world.listing);
    const response = await fetch(`${world.url}/public/v1/evm/${CHAIN_A}/${address}/trades?limit=100`);
    const { data: trades } = (await response.json()) as { data: { priceX64: string; timestamp: number }[] };
    const oldest = trades.at(-1)?.timestamp ?? 0;
    // The price at the end of the first quarter of an hour with trades, and the middle of the sample, the newest one.
    const first = trades.find(({ timestamp }) => timestamp < (Math.floor(oldest / 900) + 1) * 900);
    const change = Math.trunc((3_000.5 / (Number(first?.priceX64) / 2 ** 64) - 1) * 1e6) / 1e6;
    const page = await open('/?chain=31337&small=1');
    const row = page.locator(`tr[data-pool="${address}"]`);
    const shown = change.toLocaleString('en', {
      style: 'percent',
      signDisplay: 'exceptZero',
      minimumFractionDigits: 2,
    });
    await row.locator('.trend').getByText(shown, { exact: true }).waitFor();
    expect((await row.locator('polyline').getAttribute('points'))?.split(' ').length).toBeGreaterThan(3);
    // 45,000 USDC on one side, 15 WETH of 3,000 on the other.
    await row.getByText('$90K', { exact: true }).waitFor();
    for (const [sort, label] of [
      ['depth', 'Depth 1 %'],
      ['change', '24 h'],
    ] as const) {
      await page.getByRole('link', { name: label, exact: true }).click();
      await page.locator(`th[aria-sort=descending]`).getByText(label).waitFor();
      expect(page.url()).toContain(`sort=${sort}`);
      expect(await rows(page).first().getAttribute('data-pool')).toBe(address);
    }
    await close();
  });

  test.each([
    ['change', 'desc'],
    ['change', 'asc'],
    ['depth', 'desc'],
    ['depth', 'asc'],
  ] as const)('sorts the pools of all its pages by %s %s, and sums them up on each', async (sort, order) => {
    const page = await open(`/?chain=${CHAIN_B}&sort=${sort}&order=${order}`);
    const [shown, depths, tvls]: [string[], number[], number[]] = [[], [], []];
    const sums: (number | undefined)[][] = [];
    for (let last = 25; ; last += 25) {
      await page.getByText(`to ${Math.min(last, OTHERS.length)} of ${OTHERS.length}`).waitFor();
      shown.push(...(await poolsOn(page)));
      depths.push(...(await titles(page, 'tr[data-pool]', 5)));
      tvls.push(...(await titles(page, 'tr[data-pool]', 6)));
      sums.push([(await titles(page, 'tfoot', 5))[0], (await titles(page, 'tfoot', 6))[0]]);
      if (last >= OTHERS.length) break;
      await page.getByRole('link', { name: 'Next' }).click();
    }
    const [sign, unknown] = order === 'desc' ? [-1, -1] : [1, 1e9];
    const keyOf = (pool: (typeof OTHERS)[number]) => (sort === 'change' ? pool.change : (pool.depth ?? unknown));
    // Equal keys stay in the order of addresses.
    const expected = OTHERS.toSorted((one, other) => sign * (keyOf(one) - keyOf(other)));
    expect(shown).toEqual(expected.map(({ address }) => address));
    expect(depths).toEqual(expected.map(({ depth }) => depth ?? Number.NaN));
    const sumOf = (figures: readonly number[]) => figures.reduce((sum, figure) => sum + (figure || 0), 0);
    for (const sum of sums) expect(sum).toEqual([sumOf(depths), expect.closeTo(sumOf(tvls), 2)]);
    expect(sums).toHaveLength(3);
    await close();
  });

  test('sorts the pools of chains side by side, and sums them up', async () => {
    const { address } = world.pools[0];
    await addQuoteSample(world.listing, address);
    await storeTrends(world.listing);
    const page = await open('/');
    const sums: number[] = [];
    for (const chain of ['', `&chain=${CHAIN_A}`, `&chain=${CHAIN_B}`]) {
      await page.goto(`/?sort=depth${chain}`);
      await rows(page).first().waitFor();
      sums.push(...(await titles(page, 'tfoot', 5)));
      if (chain !== '') continue;
      const deepest = OTHERS.toSorted((one, other) => (other.depth ?? 0) - (one.depth ?? 0));
      expect(await poolsOn(page)).toEqual([address, ...deepest.slice(0, 24).map((pool) => pool.address)]);
    }
    expect(sums[0]).toBe(90_000 + OTHERS.reduce((sum, { depth }) => sum + (depth ?? 0), 0));
    expect(sums[0]).toBe(Number(sums[1]) + Number(sums[2]));
    await close();
  });

  test('has chains side by side, favourites that stay, and keys', async () => {
    const page = await open('/?small=1');
    const strip = page.getByRole('navigation', { name: 'Chains' });
    await strip.getByText('Devnet-B').getByText('not following').or(strip.getByText('not following')).first().waitFor();
    await strip.getByRole('link', { name: 'devnet-a' }).click();
    await page.getByText('5 found').waitFor();
    const second = rows(page).nth(1);
    const marked = await second.getAttribute('data-pool');
    await page.getByRole('button', { name: 'Keys' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    for (const key of ['j', 'j', 'j', 'k', 'f']) await page.keyboard.press(key);
    await second.getByRole('button', { name: 'Favourite', pressed: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('?j');
    expect(await page.getByLabel('Search').inputValue()).toBe('?j');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto('/');
    await page.getByLabel('favourites').check();
    await page.getByText('1 found').waitFor();
    expect(await rows(page).getAttribute('data-pool')).toBe(marked);
    await rows(page).getByRole('button', { name: 'Favourite' }).click();
    await page.getByText('No favourites yet').waitFor();
    await close();
  });

  test('on a phone never cuts the names of a pair; tier and status are dots that are read out as words', async () => {
    const page = await open('/?chain=31337', { viewport: { width: 390, height: 844 } });
    const first = page.locator(`tr[data-pool="${world.pools[0].address}"]`);
    await first.waitFor();
    await expect
      .poll(() =>
        page.evaluate(`[...document.querySelectorAll('tbody tr:not([data-pool="${world.hostile.address}"]) :is(.pair, bdi.name)')].filter((name) =>
          name.offsetWidth === 0 || name.scrollWidth > name.offsetWidth || name.scrollHeight > name.offsetHeight + 1)
          .map(({ textContent }) => textContent)`),
      )
      .toEqual([]);
    const pair = await first.locator('.pair').boundingBox();
    expect(pair?.height).toBeLessThan(30);
    for (const name of ['green', 'healthy']) {
      const box = await first.getByRole('link', { name, exact: true }).boundingBox();
      expect([(box?.width ?? 99) <= 24, (box?.height ?? 99) <= 24]).toEqual([true, true]);
    }
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

  test('begins with its chart: candles as the API has them, bid and ask, volume, depth, at an interval of many bars', async () => {
    const { address } = world.pools[0];
    await addTrade(world.listing, address, 3_000);
    await addQuoteSample(world.listing, address);
    const page = await open(pathOf(world.pools[0]), { viewport: { width: 1_180, height: 900 } });
    const chart = page.locator('.candles canvas').first();
    await chart.waitFor();
    // Trades of 70 minutes are 2 bars of an hour, and 15 of five minutes.
    await page.getByRole('button', { name: '1m', pressed: true }).waitFor();
    expect(await cutLabels(page)).toBe(0);
    const bars = async (interval: string) => {
      const response = await fetch(`${world.url}/public/v1/evm/${CHAIN_A}/${address}/ohlcv?interval=${interval}`);
      return ((await response.json()) as { data: { closeX64: string; volume1Raw: string }[] }).data;
    };
    expect((await bars('1m')).length).toBeGreaterThanOrEqual(30);
    const box = await chart.boundingBox();
    // The newest candle stands at the right end.
    const shown = async () => {
      for (let x = (box?.width ?? 0) - 1; x > 0; x -= 3) {
        await page.mouse.move((box?.x ?? 0) + x, (box?.y ?? 0) + 100);
        const text = await page.locator('.candles figcaption').textContent();
        if (text?.includes('close') && !text.includes('close –')) return text;
      }
      return '';
    };
    await page.getByRole('button', { name: '1h' }).click();
    const [newest] = await bars('1h');
    const price = Number(BigInt(newest?.closeX64 ?? 0)) / 2 ** 64;
    await expect
      .poll(shown, { timeout: TIMEOUT_MS })
      .toContain(`close ${price.toLocaleString('en', { minimumSignificantDigits: 6, maximumSignificantDigits: 6 })}`);
    const volume = (Number(newest?.volume1Raw) / 1e6).toLocaleString('en', {
      notation: 'compact',
      maximumSignificantDigits: 4,
    });
    expect(await shown()).toContain(`volume ${volume},`);
    const row = page.locator('.days tbody tr').first();
    await row.waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: '5m' }).click();
    await page.getByRole('button', { name: '5m', pressed: true }).waitFor();
    // What can be bought is shown at its price.
    await expect
      .poll(shown, { timeout: TIMEOUT_MS })
      .toMatch(/bid 3,000.00, ask 3,001.00, volume [\d.]+K?, depth 4.5K and 4.502K/);
    await close();
  });

  test('has two columns from 1100 pixels on: chart and trades left, quote, trade, depth and facts right', async () => {
    const page = await open(pathOf(world.pools[0]), { viewport: { width: 1_100, height: 900 } });
    const parts = ['.chart', '.trades', 'dl.prices', 'form.trade', '.depth', '.aside #facts'];
    const place = async () => {
      for (const part of parts) await page.locator(part).first().waitFor();
      const boxes = await Promise.all(parts.map((part) => page.locator(part).first().boundingBox()));
      return boxes.map((found) => found ?? { x: 0, y: 0, width: 0, height: 0 });
    };
    const [chart, trades, ...right] = await place();
    for (const { x } of right) expect(x).toBeGreaterThanOrEqual((chart?.x ?? 0) + (chart?.width ?? 0));
    expect(trades?.x).toBe(chart?.x);
    expect(trades?.y).toBeGreaterThan(chart?.y ?? 0);
    await page.setViewportSize({ width: 1_099, height: 900 });
    const [first, ...others] = await place();
    const end = (first?.y ?? 0) + (first?.height ?? 0);
    for (const { x, y } of others) {
      expect(x).toBeLessThan(40);
      expect(y).toBeGreaterThan(end);
    }
    await close();
  });

  test('quotes a trade in this pool as one types', async () => {
    const page = await open(pathOf(world.pools[1]));
    const result = page.locator('form.trade dl');
    const quoted = (body: object) => post({ ...body, poolAddress: world.pools[1].address });
    const text = (raw: string) => (Number(raw) / 1e6).toLocaleString('en', { maximumSignificantDigits: 7 });
    const { token0, token1 } = world.tokens;
    await page.getByLabel('Amount of WETH').fill('2.5');
    const sold = await quoted({ tokenIn: token0, tokenOut: token1, amountIn: String(25n * 10n ** 17n) });
    await result.getByText(`${text(sold.amountOut)} USDC`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Buy WETH' }).click();
    const bought = await quoted({ tokenIn: token1, tokenOut: token0, amountOut: String(25n * 10n ** 17n) });
    await result.getByText(`${text(bought.amountIn)} USDC`, { exact: true }).waitFor();
    await page.getByLabel('Amount of WETH').fill('99000');
    await page.getByText('not deep enough').waitFor();
    await close();
  });

  test('takes amounts as the locale of the reader writes them, refuses ambiguous ones, and has none of it in addresses', async () => {
    const page = await open(pathOf(world.pools[1]), { locale: 'de-DE' });
    const { token0, token1 } = world.tokens;
    const order = { tokenIn: token0, tokenOut: token1, amountIn: String(15n * 10n ** 17n) };
    const { amountOut } = await post({ ...order, poolAddress: world.pools[1].address });
    const received = (Number(amountOut) / 1e6).toLocaleString('de', { maximumSignificantDigits: 7 });
    const amount = page.getByLabel('Amount of WETH');
    await amount.fill('1,5');
    await page.locator('form.trade dl').getByText(`${received} USDC`, { exact: true }).waitFor();
    await amount.fill('1.500');
    await page.getByText('Type an amount such as 1234,5.').waitFor();
    await amount.fill('1,5');
    await page.getByRole('link', { name: 'Quote a trade over all pools' }).click();
    await page.getByText('You receive').first().waitFor();
    expect(new URL(page.url()).searchParams.get('amount')).toBe('1.5');
    expect(await page.getByLabel('Amount').inputValue()).toBe('1,5');
    await page.getByLabel('Slippage, %').fill('0,25');
    await expect.poll(() => new URL(page.url()).searchParams.get('slippage'), { timeout: TIMEOUT_MS }).toBe('0.25');
    await page.getByLabel('Amount').fill('1.500');
    await page.getByText('Type an amount such as 1234,5.').waitFor();
    expect(await page.getByLabel('Amount').inputValue()).toBe('1.500');
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

describe('a route', () => {
  const whole = (raw: string) => (Number(raw) / 1e6).toLocaleString('en', { maximumSignificantDigits: 7 });

  test('of the most traded tokens is quoted at first, as a picture, beside single pools; its call can be copied', async () => {
    const { token0, token1 } = world.tokens;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await open('/route', { permissions });
    await page.getByText('You receive').first().waitFor();
    // The power of ten whose value is nearest to 1,000 US dollars.
    expect(new URL(page.url()).search).toBe(`?chain=${CHAIN_A}&in=${token0}&out=${token1}&amount=1`);
    expect(await page.getByRole('combobox', { name: 'Pay' }).inputValue()).toBe(token0);
    const amount = page.getByLabel('Amount');
    await amount.press('End');
    await amount.pressSequentially('5');
    const small = { tokenIn: token0, tokenOut: token1, amountIn: String(15n * 10n ** 18n) };
    await page
      .locator('.plan dd.good')
      .getByText(whole((await post(small)).amountOut))
      .waitFor();
    expect(await page.evaluate('document.activeElement.inputMode')).toBe('decimal');
    await amount.fill('30');
    const order = { tokenIn: token0, tokenOut: token1, amountIn: String(30n * 10n ** 18n) };
    const plan = await post(order);
    await page.locator('.plan dd.good').getByText(whole(plan.amountOut)).waitFor();
    const routes = page.locator('.hops > li');
    expect(await routes.count()).toBe(2);
    expect(plan.routes).toHaveLength(2);
    for (const [index, { amountIn, legs }] of plan.routes.entries()) {
      const text = (await routes.nth(index).textContent()) ?? '';
      const [leg] = legs;
      const percent = (value: number) =>
        value.toLocaleString('en', { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });
      expect(text).toContain(percent(Number(amountIn) / 3e19));
      expect(text).toContain(leg?.pair);
      expect(text).toContain(`→ ${whole(leg?.amountOut ?? '')} USDC`);
      expect(text).toContain(`fee 0.003%, impact ${percent(Number(leg?.priceImpactE6) / 1e6)}`);
    }
    const singles = page.locator('.singles tbody tr');
    await expect.poll(() => singles.count(), { timeout: TIMEOUT_MS }).toBe(2);
    for (const [index, { address }] of world.pools.entries()) {
      const single = await post({ ...order, poolAddress: address });
      const text = await singles.nth(index).textContent();
      expect(text).toContain(single.amountOut ? whole(single.amountOut) : 'not deep enough');
      const loss = single.amountOut && (Number(single.amountOut) / Number(plan.amountOut) - 1) * 10_000;
      if (loss) expect(text).toContain(`${loss.toFixed(1)} bps`);
    }
    await page.getByRole('button', { name: 'Copy the call' }).click();
    await page.getByText('copied').waitFor();
    const line = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(line).toContain(`"amountIn":"${order.amountIn}"`);
    expect(await findings(page)).toEqual([]);
    await close();
  });

  test('has a plan in words, a worst case, errors in words, and a line that works', async () => {
    const { token0, token1 } = world.tokens;
    const page = await open(`/route?chain=${CHAIN_A}`);
    await page.getByRole('combobox', { name: 'Pay' }).selectOption(token0);
    await page.getByRole('combobox', { name: 'Receive' }).selectOption(token1);
    await page.getByLabel('Amount').fill('30');
    await expect.poll(() => page.locator('.hops > li').count(), { timeout: TIMEOUT_MS }).toBe(2);
    const line = await page.locator('.curl code').textContent();
    expect(line).toContain(`"amountIn":"30000000000000000000"`);
    await page.getByRole('combobox', { name: 'Fixed' }).selectOption('exact_out');
    await page.getByLabel('Amount').fill('1000');
    await page.getByText('At most').waitFor();
    await page.getByLabel('Amount').fill('99000000');
    await page.getByText('No path is deep enough').waitFor();
    await close(/Failed to load resource.*422/);
  });
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
