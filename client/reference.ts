import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Application } from 'typedoc';
import { writeSchema } from './write-schema.ts';

const CLIENT = import.meta.dirname;
/**
 * Scripts that choose a theme before the page is shown. We remove them: the policy of our pages forbids inline scripts.
 */
const INLINE_SCRIPT = /<script>.*?<\/script>/g;

/**
 * Writes the reference of the package as web pages, made from its doc comments.
 *
 * @throws Error when a comment links to what does not exist
 */
export async function buildReference(folder: string): Promise<void> {
  await writeSchema();
  const app = await Application.bootstrap({
    name: 'Client of the Pool Trading Data API',
    entryPoints: ['math', 'rest', 'simulate', 'stream'].map((name) => join(CLIENT, `${name}.ts`)),
    tsconfig: join(CLIENT, 'tsconfig.json'),
    readme: join(CLIENT, 'README.md'),
    disableSources: true,
    excludeExternals: true,
    skipErrorChecking: true,
    validation: { notExported: false, invalidPath: false, invalidLink: true },
    treatValidationWarningsAsErrors: true,
    logLevel: 'Warn',
  });
  const project = await app.convert();
  if (!project) throw new Error('the reference of the client cannot be made');
  app.validate(project);
  await app.generateDocs(project, folder);
  if (app.logger.hasErrors()) throw new Error('the reference of the client has errors');
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.html')) continue;
    const path = join(folder, name);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(INLINE_SCRIPT, ''));
  }
}
