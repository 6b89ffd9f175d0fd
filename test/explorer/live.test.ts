import type { Page, WebSocketRoute } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { updateAll } from '../live/live-world.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { startedBrowser, visit } from './browser.ts';
import { startLivePage } from './live-page.ts';

/** Of a busy machine. */
const TIMEOUT_MS = 30_000;

const live = startedWorld(startLivePage);
const chromium = startedBrowser();

const figure = (page: Page, term: string) => page.locator(`[data-figure=${term}]`);
const dot = (page: Page) => page.locator('.sub .live');
/** Waits for a text. */
const expectText = (page: Page, term: string, text: RegExp | string) =>
  expect.poll(() => figure(page, term).textContent(), { timeout: TIMEOUT_MS }).toMatch(text);
const numberText = (value: bigint) => value.toLocaleString('en-US');

test('a pool shows its price in the block that is being built, and what the chain has where it differs', async () => {
  const { world, pool, url } = live;
  const { market } = world;
  const { builder } = market;
  const { page, errors, foreign, close } = await visit(chromium.browser, url);
  page.setDefaultTimeout(TIMEOUT_MS);
  const target = () => numberText(builder.block().number);
  const committed = () => numberText(builder.block().number - 1n);
  await updateAll(market, () => 200n);
  await page.goto(`/pool/${CHAIN_A}/${pool.address}`);

  // No update landed yet.
  await expectText(page, 'bid', /^1\.99/);
  await expectText(page, 'target', target());
  await expectText(page, 'source-age', /^\d{1,4} ms$/);
  await expectText(page, 'committed', `On the chain, in block ${committed()}: no price, feed down.`);
  expect(await dot(page).textContent()).toBe('live');

  expect(await findings(page)).toEqual([]);

  // Within the block.
  await updateAll(market, () => 204n);
  await expectText(page, 'bid', /^2\.03/);
  await expectText(page, 'target', target());

  // Both have a price.
  await builder.buildBlock({ trades: [market.trade(pool, { zeroForOne: true, amountSpecified: 10n ** 15n })] });
  await updateAll(market, () => 208n);
  await expectText(page, 'target', target());
  await expectText(page, 'bid', /^2\.07/);
  await expectText(
    page,
    'committed',
    new RegExp(`On the chain, in block ${committed()}: bid 2\\.03\\d+, ask 2\\.04\\d+`),
  );

  // The maker is gone: once its frames are too old, the page shows the chain alone.
  await builder.buildBlock();
  await expect.poll(() => dot(page).count(), { timeout: TIMEOUT_MS }).toBe(0);
  await expectText(page, 'bid', 'closed');
  expect(await figure(page, 'live').count()).toBe(0);
  expect([errors, foreign]).toEqual([[], []]);
  await close();
});

test('the list marks pools with live prices, which stay while a block ends', async () => {
  const { world, pool, url } = live;
  const { market } = world;
  const { page, errors, close } = await visit(chromium.browser, url);
  page.setDefaultTimeout(TIMEOUT_MS);
  const committed = vi.fn();
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).includes('"kind":"committed"')) committed();
    });
  });
  await page.clock.install();
  await updateAll(market, () => 200n);
  await page.goto('/');
  const row = page.locator(`tr[data-pool="${pool.address}"]`);
  await row.locator('.live').getByText('live').waitFor({ state: 'attached' });
  await page.evaluate(`window.blinks = 0; new MutationObserver(() => {
    if (document.querySelector('td.price').textContent.includes('closed')) window.blinks += 1;
  }).observe(document.querySelector('tbody'), { subtree: true, childList: true, characterData: true })`);
  // The page waits a second of its own time for a maker: a busy machine may need more for an update.
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 3_000);
  committed.mockClear();
  await market.builder.buildBlock();
  await vi.waitFor(() => expect(committed).toHaveBeenCalled());
  await updateAll(market, () => 206n);
  await row.getByText(/2\.05/).first().waitFor();
  expect(await page.evaluate('window.blinks')).toBe(0);
  expect(await row.locator('.live').count()).toBe(1);
  expect(errors).toEqual([]);
  await close();
});

test('a price that the service has withdrawn is not live', async () => {
  const { world, pool, url } = live;
  for (const path of [`/pool/${CHAIN_A}/${pool.address}`, '/']) {
    const { page, close } = await visit(chromium.browser, url);
    page.setDefaultTimeout(TIMEOUT_MS);
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/ws$/, (socket) => {
      sockets.push(socket);
      socket.connectToServer();
    });
    await updateAll(world.market, () => 200n);
    await page.goto(path);
    await dot(page).waitFor({ state: 'attached' });
    await page.routeWebSocket(/\/ws$/, (socket) => void socket.close());
    await page.route(/\/(stream\?|batch$)/, (route) => route.abort());
    for (const socket of sockets) await socket.close();
    await expect.poll(() => dot(page).count(), { timeout: TIMEOUT_MS }).toBe(0);
    expect(await figure(page, 'live').count()).toBe(0);
    // The last price stays.
    await page.locator('.price').getByText(/1\.99/).waitFor();
    await close();
  }
});
