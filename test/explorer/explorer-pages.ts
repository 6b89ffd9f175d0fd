import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { RoutePlan } from '../../api/route/route-response.ts';
import { startedWorld } from '../harness/open-world.ts';
import { CHAIN_A, CHAIN_B } from '../metadata/listing-fixture.ts';
import { startedBrowser, type Visit, visit } from './browser.ts';
import { startExplorerWorld } from './world.ts';

/** Of a busy machine. */
export const TIMEOUT_MS = 30_000;

/** Browsers report refused streams of the second chain, which no node serves. */
const REFUSED = new RegExp(`/evm/${CHAIN_B}/ws' failed|status of 503`);

/** The explorer and a browser, which the tests of one file share. A test has one page at a time, and closes it. */
export function startedExplorer() {
  const world = startedWorld(startExplorerWorld);
  const chromium = startedBrowser();
  let opened: Visit;

  /** Gives an empty page; what went wrong in it is looked at by `close`. */
  async function emptyPage(options: Parameters<typeof visit>[2] = {}): Promise<Page> {
    opened = await visit(chromium.browser, world.url, options);
    opened.page.setDefaultTimeout(TIMEOUT_MS);
    return opened.page;
  }

  /**
   * Opens a path. A new block first: the chain stands still otherwise,
   * and what was read for an earlier page would be late on a slow machine.
   */
  async function open(path: string, options: Parameters<typeof visit>[2] = {}): Promise<Page> {
    await world.mine();
    const page = await emptyPage(options);
    await page.goto(path);
    return page;
  }

  /** @param expected errors that a test means to cause */
  async function close(expected = /^$/): Promise<void> {
    expect(opened.errors.filter((error) => !expected.test(error) && !REFUSED.test(error))).toEqual([]);
    expect(opened.foreign).toEqual([]);
    await opened.close();
  }

  /** Requests a route. */
  async function post(body: object): Promise<RoutePlan> {
    const response = await fetch(`${world.url}/public/v1/evm/${CHAIN_A}/route`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as RoutePlan;
  }

  return { world, emptyPage, open, close, post, scratchPage: () => chromium.browser.newPage() };
}

export const rows = (page: Page) => page.locator('tbody tr[data-pool]');
export const pathOf = (pool: { readonly address: string }) => `/pool/${CHAIN_A}/${pool.address}`;
export const figure = (page: Page, term: string) => page.locator(`[data-figure=${term}]`);

/** By how much a page is wider than its window, pixels. */
export const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
