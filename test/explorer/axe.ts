import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious findings of axe, which runs outside of the page's own policy. */
export async function findings(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const run = `${AXE}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' '))))`;
  const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true });
  await session.detach();
  return JSON.parse(result.value as string);
}
