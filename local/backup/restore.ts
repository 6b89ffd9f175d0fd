import { readBackup } from './read-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { runOnDatabase } from './run-on-database.ts';

const HELP = `
The database has no rows of ours, or is not there yet. This release has the migrations of the one that made the backup.
All is restored, or nothing.
`;

await runOnDatabase({
  name: 'restore',
  description: 'Brings an empty database to what backup wrote.',
  file: 'a file that backup made',
  help: HELP,
  work: async (file, open) => {
    const backup = await readBackup(file);
    await restoreBackup(await open(), backup);
    return `${file} is restored`;
  },
});
