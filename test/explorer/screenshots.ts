import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../docs/screenshots/');
/** Pixels of a square whose mean colour is compared: fonts differ from machine to machine, the layout does not. */
const SQUARE = 20;
/** Mean difference of all squares, of 255. */
const TOLERANCE = 6;

/**
 * Compares the page as it looks now with `docs/screenshots/`, or writes it there with `UPDATE_SCREENSHOTS`.
 *
 * @param scratch a page of nothing, to compare pictures in
 */
export async function expectAppearance(page: Page, scratch: Page, name: string): Promise<void> {
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const path = `${FOLDER}${name}.png`;
  if (process.env.UPDATE_SCREENSHOTS) {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(path, taken);
  }
  const pictures = [taken, await readFile(path)].map(
    (content) => `data:image/png;base64,${content.toString('base64')}`,
  );
  const difference = await scratch.evaluate<number>(`(${meanDifference})(${JSON.stringify(pictures)}, ${SQUARE})`);
  expect(difference, `${name} looks different: see it, or run "npm run screenshots"`).toBeLessThanOrEqual(TOLERANCE);
}

/** Runs in the browser, which can read pictures; infinite when their sizes differ. */
const meanDifference = `async (pictures, square) => {
  const [one, other] = await Promise.all(pictures.map(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const [width, height] = [image.width, image.height].map((length) => Math.ceil(length / square));
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  }));
  if (one.length !== other.length) return Infinity;
  return one.reduce((sum, value, at) => sum + Math.abs(value - other[at]), 0) / one.length;
}`;
