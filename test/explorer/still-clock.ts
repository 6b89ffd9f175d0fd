import type { Page } from 'playwright-core';

/**
 * Stops the clock of a page and that of the service as the page sees it, before the page opens:
 * ages do not depend on the machine. Timers run.
 *
 * @returns lets so many milliseconds pass for both
 */
export async function stopClock(page: Page): Promise<(milliseconds: number) => Promise<void>> {
  let now = Date.now();
  await page.route('**/public/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), date: new Date(now).toUTCString() } });
  });
  await page.clock.setFixedTime(now);
  return async (milliseconds) => {
    now += milliseconds;
    await page.clock.setFixedTime(now);
    await page.clock.fastForward(milliseconds);
  };
}
