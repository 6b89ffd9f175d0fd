import { describe, expect, test } from 'vitest';
import { CHAIN_A } from '../metadata/listing-fixture.ts';
import { findings } from './axe.ts';
import { startedExplorer, TIMEOUT_MS } from './explorer-pages.ts';

/* The page of a route, as a browser shows it. */

const { world, open, close, post } = startedExplorer();

describe('a route', () => {
  const whole = (raw: string) => (Number(raw) / 1e6).toLocaleString('en', { maximumSignificantDigits: 7 });

  test('of the most traded tokens is quoted at first, as a picture, beside single pools; its call can be copied', async () => {
    const { token0, token1 } = world.tokens;
    const permissions = ['clipboard-read', 'clipboard-write'];
    // Anyone can trade with themselves in a pool of a token of their own.
    await world.listing.pool.query(
      `UPDATE operator.pool_listing SET volume_fiat = 1e12, shown_volume_fiat = 1e12 WHERE tier = 'red';
       UPDATE operator.listing_window SET generation = generation + 1`,
    );
    const page = await open('/route', { permissions });
    await page.getByText('You receive').first().waitFor();
    // The power of ten whose value is nearest to 1,000 US dollars.
    expect(new URL(page.url()).search).toBe(`?chain=${CHAIN_A}&in=${token0}&out=${token1}&amount=1`);
    const paid = page.getByRole('combobox', { name: 'Pay' });
    expect(await paid.inputValue()).toBe(token0);
    expect(await paid.locator('option:checked').textContent()).toBe(`WETH (${token0})`);
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
    // Shown for a moment.
    await Promise.all([
      page.getByText('copied').waitFor(),
      page.getByRole('button', { name: 'Copy the call' }).click(),
    ]);
    const line = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(line).toContain(`"amountIn":"${order.amountIn}"`);
    expect(await findings(page)).toEqual([]);
    // The plan goes on, and is not compared with quotes of another time.
    await page.route(/\/batch$/, (route) => route.fulfill({ status: 400, json: { error: 'Wrong' } }));
    await expect.poll(() => singles.count(), { timeout: TIMEOUT_MS }).toBe(0);
    expect(await routes.count()).toBe(2);
    await close(/Failed to load resource.*400/);
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
    // Above what is taken the last tolerance stays in use, and the field says that it is not its own.
    const slippage = page.getByLabel('Slippage');
    const used = () => new URL(page.url()).searchParams.get('slippage');
    await slippage.fill('50');
    await expect.poll(used, { timeout: TIMEOUT_MS }).toBe('50');
    await slippage.fill('60');
    await page.getByText('Slippage: 0 to 50 %').waitFor();
    await slippage.and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByRole('combobox', { name: 'Fixed' }).selectOption('exact_out');
    await page.getByLabel('Amount').fill('1000');
    await page.getByText('At most').waitFor();
    expect(used()).toBe('50');
    await page.getByLabel('Amount').fill('99000000');
    await page.getByText('No path is deep enough').waitFor();
    await close(/Failed to load resource.*422/);
  });
});
