import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { CHAIN_A, CHAIN_B } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { overflow, pathOf, rows, startedExplorer } from './explorer-pages.ts';
import { addQuoteSample, HOSTILE_SYMBOL, OTHERS, storeTrends } from './seed-market.ts';

/* The list of pools, as a browser shows it. */

const { world, emptyPage, open, close } = startedExplorer();

const poolsOn = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('tr[data-pool]')].map((row) => row.dataset.pool)`);

/** Full US dollars in a column. */
async function titles(page: Page, place: string, column: number): Promise<number[]> {
  const cells = `document.querySelectorAll('${place} td:nth-of-type(${column})')`;
  const texts = await page.evaluate<string[]>(`[...${cells}].map(({ title }) => title)`);
  return texts.map((text) => Number(text.replaceAll(/[$,]/g, '')));
}

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

  test('a search that is typed as soon as its field is there is not lost', async () => {
    const page = await emptyPage();
    await page.addInitScript(`new MutationObserver((_, observer) => {
      const field = document.querySelector('input[type=search]');
      if (!field) return;
      observer.disconnect();
      field.value = 'usdc/we';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto('/');
    await page.getByText('2 found').waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe('usdc/we');
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
    await page.getByText('5 found', { exact: true }).waitFor();
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

  test('works where the browser keeps nothing for pages', async () => {
    const page = await emptyPage();
    await page.addInitScript(`Object.defineProperty(window, 'localStorage', {
      get: () => { throw new DOMException('Access is denied', 'SecurityError'); },
    })`);
    await page.goto('/?small=1');
    await page.getByRole('button', { name: 'Keys' }).waitFor();
    await rows(page).first().getByRole('button', { name: 'Favourite' }).click();
    await page.getByLabel('favourites').check();
    await page.getByText('1 found').waitFor();
    await close();
  });

  test('lets the keyboard skip what is above the list', async () => {
    const page = await open('/?small=1');
    await rows(page).first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    expect(new URL(page.url()).search).toBe('?small=1');
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
    const page = await emptyPage();
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
