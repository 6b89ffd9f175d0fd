import { canInstall, installDebianPackages, onPath } from '../local/services/debian-package.ts';
import { ServiceError } from '../local/services/service-error.ts';

/** Chromium without windows, which draws pages for half of the work. */
const HEADLESS = 'chromium-headless-shell';
const HINT = `install ${HEADLESS}, for the tests of the web page`;

/**
 * The Chromium of this machine, from PATH; root on a Debian system gets Debian's package installed, with a font.
 *
 * @throws ServiceError one line with a hint when there is none
 */
export async function chromiumBinary(): Promise<string> {
  const found = await onPath(HEADLESS);
  if (found) return found;
  if (await canInstall()) await installDebianPackages([HEADLESS, 'fonts-dejavu-core'], HINT);
  const installed = (await onPath(HEADLESS)) ?? (await onPath('chromium'));
  if (installed) return installed;
  throw new ServiceError(`no Chromium on PATH: ${HINT}`);
}
