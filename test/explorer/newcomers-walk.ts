import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { launchBrowser, visit } from './browser.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;

/**
 * What somebody does who just started the demo: opens the first address that it printed, finds the best pool of a pair,
 * sees its depth move with trades, asks for a route, runs the line that the page shows,
 * and sees prices that are live in block after block.
 *
 * @param printed all that the demo has printed
 */
export async function expectNewcomersWalk(printed: string): Promise<void> {
  const [, name, url = ''] = /Everything is up.+\s+(\S+) +(http:\S+?)\/\n/.exec(printed) ?? [];
  expect(name).toBe('explorer');
  const browser = await launchBrowser();
  try {
    const { page, errors, foreign } = await visit(browser, url, { permissions: ['clipboard-read', 'clipboard-write'] });
    page.setDefaultTimeout(TIMEOUT_MS);
    await page.goto('/');
    const search = async (text: string) => {
      await page.getByLabel('Search').fill(text);
      // The list has other pools until the search is sent.
      await page.waitForURL(({ searchParams }) => searchParams.get('search') === text);
      await page.locator('table.pools[aria-busy=false]').waitFor();
    };
    await search('weth/usdc');
    await page.getByRole('combobox', { name: 'Sort' }).selectOption('tvl');
    // The search also finds pools the other way round.
    const pools = page.locator('tbody tr[data-pool]');
    await pools.filter({ hasText: 'WETH/USDC' }).first().locator('th > a').click();

    await page.getByText('Levels in numbers').click();
    const levels = page.locator('.levels');
    await levels.locator('td').first().waitFor();
    const before = await levels.textContent();
    await expect.poll(() => levels.textContent(), { timeout: TIMEOUT_MS }).not.toBe(before);

    await page.getByRole('link', { name: 'Quote a trade' }).last().click();
    await page.getByLabel('Amount').fill('2');
    await page.locator('.curl').getByText('"amountIn":"2000000000000000000"').waitFor();
    await page.getByText('You receive').first().waitFor();
    // Shown for a moment.
    await Promise.all([
      page.getByText('copied').waitFor(),
      page.getByRole('button', { name: 'Copy the call' }).click(),
    ]);
    const line = await page.evaluate<string>('navigator.clipboard.readText()');
    const { stdout } = await run('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({
      tradeType: 'exact_in',
      amountIn: '2000000000000000000',
      amountOut: expect.stringMatching(/^\d{9,}$/),
    });

    await page.goto('/');
    await search('duo/uno');
    await pools
      .filter({ hasText: 'DUO/UNO', has: page.locator('.live') })
      .first()
      .locator('th > a')
      .click();
    const target = page.locator('[data-figure=target]');
    const first = await target.textContent();
    await expect.poll(() => target.textContent(), { timeout: TIMEOUT_MS }).not.toBe(first);
    expect([errors, foreign]).toEqual([[], []]);
  } finally {
    await browser.close();
  }
}
