import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { figure, pathOf, startedExplorer, TIMEOUT_MS } from './explorer-pages.ts';
import { addPersistence, addQuoteSample, addTrade } from './seed-market.ts';
import { stopClock } from './still-clock.ts';

/* The page of a pool, as a browser shows it. */

const { world, emptyPage, open, close, post } = startedExplorer();

/** Labels of the chart's time axis that touch one of its ends. */
const cutLabels = (page: Page) =>
  page.evaluate<number>(`(() => {
    const axis = document.querySelector('.candles tr:last-child td:nth-child(2) canvas');
    const data = axis.getContext('2d').getImageData(0, 3, axis.width, axis.height - 6).data;
    const inked = (x) => Array.from({ length: axis.height - 6 }, (_, y) => data[(y * axis.width + x) * 4 + 3]).some(Boolean);
    return [0, 1, axis.width - 2, axis.width - 1].filter(inked).length;
  })()`);

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
    await addPersistence(world.listing, address);
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
    // The newest candle stands at the right end.
    const shown = async () => {
      const box = await chart.boundingBox();
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
    // Of the side that lost more.
    expect(await row.locator('td').allTextContents()).toEqual(expect.arrayContaining(['2.5 bps', '12.50%']));
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
    await page.locator('.candles canvas').first().waitFor();
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
    const chart = page.locator('.depth .u-over');
    let tries = 0;
    const pointed = async () => {
      const { width = 0 } = (await chart.boundingBox()) ?? {};
      // A chart that is just shown does not listen yet, and a pointer that does not move says nothing.
      tries += 1;
      await chart.hover({ position: { x: width * 0.9 + (tries % 2), y: 100 } });
      return page.locator('.depth figcaption').textContent();
    };
    await expect
      .poll(pointed, { timeout: TIMEOUT_MS })
      .toMatch(/^Buy up to price 3,0[\d.]+: [\d.]+ WETH for [\d.,]+ USDC, impact \d\.\d\d%$/);
    const trade = page.getByText('Nobody has traded here yet.');
    await trade.waitFor();
    const link = page.getByRole('link', { name: world.pools[1].address.slice(0, 8) });
    expect(await link.getAttribute('href')).toBe(`https://explorer.example/address/${world.pools[1].address}`);
    expect(await link.getAttribute('rel')).toContain('noopener');
    await close();
  });

  test('while the node is dead old prices age, turn amber and red; then they are new again', async () => {
    const page = await emptyPage();
    await world.mine();
    const pass = await stopClock(page);
    await page.goto(pathOf(world.pools[1]));
    const prices = page.locator('dl.prices');
    await figure(page, 'bid').getByText(/3,/).waitFor();
    await expect.poll(() => prices.getAttribute('class'), { timeout: TIMEOUT_MS }).toBe('prices price fresh');
    world.node.misbehave({ kind: 'down' });
    await page.getByText('Trying again').waitFor();
    // Before the price is old: nobody can trade on a quote that is withdrawn.
    await page.locator('form.trade').getByText('too old to trade on').waitFor();
    expect(await page.locator('form.trade dd').allTextContents()).toEqual(['–', '–', '–']);
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
      // On a busy machine the attempt at 30 s comes before the service has the new head:
      // the next one is not waited for.
      await pass(1_000);
      return page.getByText('Trying again').count();
    };
    await expect.poll(failures, { timeout: TIMEOUT_MS }).toBe(0);
    await close(/Failed to load resource|WebSocket connection/);
  });

  test('has prices again after a moment in which the service rejects their stream', async () => {
    const page = await emptyPage();
    let isRejected = true;
    await page.routeWebSocket(/\/ws$/, (socket) => {
      if (isRejected) void socket.close();
      else socket.connectToServer();
    });
    await page.route(/\/stream\?/, (route) =>
      isRejected ? route.fulfill({ status: 404, json: { error: 'Unknown chain' } }) : route.fallback(),
    );
    await page.goto(pathOf(world.pools[1]));
    await page.getByText('Unknown chain').waitFor();
    await world.mine();
    isRejected = false;
    await figure(page, 'bid').getByText(/3,/).waitFor();
    expect(await page.getByText('Trying again').count()).toBe(0);
    await close(/Failed to load resource.*404/);
  });

  test('is shown with its charts although their code could not be loaded while the service was restarted', async () => {
    const page = await emptyPage();
    await world.mine();
    let missing = /assets\/other-pages-/;
    await page.route(/assets/, (route) => (missing.test(route.request().url()) ? route.abort() : route.fallback()));
    await page.goto(pathOf(world.pools[0]));
    await page.getByText('This page could not be loaded').waitFor();
    missing = /assets\/(candle|depth)-chart-/;
    await expect.poll(() => page.getByText('The chart could not be loaded').count(), { timeout: TIMEOUT_MS }).toBe(2);
    missing = /^$/;
    await page.locator('.depth canvas').waitFor();
    await page.locator('.candles canvas').first().waitFor();
    expect(await page.getByText('could not be loaded').count()).toBe(0);
    await close(/Failed to load resource/);
  });
});
