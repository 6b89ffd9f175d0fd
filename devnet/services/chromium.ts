import { canInstall, installDebianPackages, onPath } from './debian-package.ts';
import { ServiceError } from './service-error.ts';

const HINT = 'install chromium, for the tests of the web page';

/**
 * The Chromium of this machine, from PATH; root on a Debian system gets Debian's package installed, with a font.
 *
 * @throws ServiceError one line with a hint when there is none
 */
export async function chromiumBinary(): Promise<string> {
  const found = await onPath('chromium');
  if (found) return found;
  if (!(await canInstall())) throw new ServiceError(`no Chromium on PATH: ${HINT}`);
  await installDebianPackages(['chromium', 'fonts-dejavu-core'], HINT);
  const installed = await onPath('chromium');
  if (installed) return installed;
  throw new ServiceError(`apt-get installed no chromium: ${HINT}`);
}
