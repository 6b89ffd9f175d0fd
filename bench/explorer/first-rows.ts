import type { Browser } from 'playwright-core';
import { visit } from '../../test/explorer/browser.ts';

/** A slow phone on a slow network. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const PROCESSOR_SLOWDOWN = 4;

/** What a visit took until rows were painted. */
export interface FirstRows {
  /** From the start of the navigation, milliseconds. */
  readonly ms: number;
  readonly rows: number;
  /** Bytes of the document, scripts and styles received by then, compressed. */
  readonly fileBytes: number;
  /** Bytes of all answers received by then, with headers. */
  readonly wireBytes: number;
}

/** In the page: resolves when rows of pools have been painted. */
const WATCH_ROWS = `window.firstRows = new Promise((resolve) => {
  const answers = () => ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  const files = () => answers().filter(({ name }) => !new URL(name).pathname.startsWith('/public/'));
  new MutationObserver((_, observer) => {
    const rows = document.querySelectorAll('tbody tr[data-pool]').length;
    if (rows === 0) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve({
      ms: performance.now(),
      rows,
      fileBytes: files().reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    })));
  }).observe(document, { childList: true, subtree: true });
})`;

/** Opens a page of a list of pools with nothing cached, network and processor throttled. */
export async function timeFirstRows(browser: Browser, url: string): Promise<FirstRows> {
  const { page, close } = await visit(browser, url);
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', NETWORK);
  await session.send('Emulation.setCPUThrottlingRate', { rate: PROCESSOR_SLOWDOWN });
  let wireBytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    wireBytes += encodedDataLength;
  });
  await page.addInitScript(WATCH_ROWS);
  await page.goto('/', { waitUntil: 'commit' });
  const seen = { ...(await page.evaluate<Omit<FirstRows, 'wireBytes'>>('window.firstRows')), wireBytes };
  await close();
  return seen;
}
