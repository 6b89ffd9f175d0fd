import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumBinary } from '../../devnet/chromium.ts';
import { openWorld } from '../harness/open-world.ts';

/** A page of a browser of its own profile, and what went wrong in it. */
export type Visit = {
  readonly page: Page;
  /** Messages of errors: of scripts, of the console, of the page's security policy. */
  readonly errors: string[];
  /** Requests to any other host than the page's own. */
  readonly foreign: string[];
  readonly close: () => Promise<void>;
};

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumBinary(),
    // Root has no sandbox of its own; a container's shared memory is small. No external host is contacted.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--force-color-profile=srgb'],
  });
}

/** A browser that the tests of one file share. */
export const startedBrowser = () =>
  openWorld(async (ends) => ({ browser: ends.adopt(await launchBrowser(), (browser) => browser.close()) }));

/** @param url origin of the service */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ baseURL: url, locale: 'en-US', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  return {
    page,
    errors,
    foreign,
    close: async () => {
      // A handler that is still fetching would reject.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}
