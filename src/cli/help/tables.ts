/** What help and the man pages say of no single command: variables, files and exit codes. */

/** Every variable the command line reads, with its meaning. */
export const variables: [string, string][] = [
  ['SERVICE_SERVER', 'Server to talk to; --server beats it'],
  ['SERVICE_BOARD', 'Board to work on; --board beats it'],
  ['SERVICE_AGENT', 'Agent to act as; --as beats it'],
  ['SERVICE_CONTENT_TYPE', 'json: the same as --json'],
  ['SERVICE_DEBUG', '1: the same as --verbose, and more about errors'],
  ['SERVICE_TIME', 'relative, local or iso'],
  ['SERVICE_NO_INPUT, CI', 'Never ask a question'],
  ['SERVICE_TIMEOUT', "Seconds a command's requests may take"],
  ['SERVICE_HOME', 'Absolute path: everything under this one folder'],
  [
    'SERVICE_CONFIG_DIR, SERVICE_DATA_DIR, SERVICE_STATE_DIR, SERVICE_CACHE_DIR',
    'One folder each; SERVICE_HOME beats them',
  ],
  ['SERVICE_TOKEN, SERVICE_TOKEN_FILE', 'A credential for this run, never saved; needs SERVICE_SERVER or --server'],
  ['SERVICE_KEYSTORE', 'auto, keychain or file: where new keys are saved'],
  ['SERVICE_LOCAL_ADDR', 'Address of the local server, such as 127.0.0.1:7401'],
  ['SERVICE_NO_AUTOSTART', '1: never start the local server'],
  ['SERVICE_DB', 'Database of service serve; may hold a password'],
  [
    'SERVICE_DB_POOL',
    'Most connections to Postgres of a process of service serve: 2 to 100, default 16, and a few beside',
  ],
  ['SERVICE_FILES', 'Where service serve keeps the bytes of files: disk:///absolute/path, db: or s3://bucket/prefix'],
  ['SERVICE_WAIT_FOR_DB', 'Seconds for which service serve waits for its database; with --team default 60'],
  ['SERVICE_WORKERS', 'How many processes service serve --team starts on its port: 1 to 32, default 1'],
  ['SERVICE_FILES_QUOTA_BYTES', 'Bytes that all files of service serve together may take; 0: as many as fit'],
  [
    'SERVICE_PUBLIC_URL, SERVICE_DATA, SERVICE_LISTEN, SERVICE_ADMIN',
    'What service serve --team is told where the flag is left out',
  ],
  [
    'SERVICE_RATE_FACTOR',
    'What the limits on signed-in work of a team’s server are multiplied with: default 10, 0 = off',
  ],
  ['NO_COLOR, FORCE_COLOR', 'Colour off, colour on'],
  ['ACCESSIBLE', 'Questions line by line, as with TERM=dumb, for programs that read a screen aloud'],
  ['PAGER', 'Program that shows help longer than the screen (default less); cat or nothing: none'],
  ['NODE_EXTRA_CA_CERTS, SSL_CERT_FILE', 'Further certificates to trust'],
  [
    'HTTPS_PROXY, NO_PROXY',
    'The proxy to servers on other machines, and the servers that need none; from Node.js 22.21 and 24.5 on',
  ],
];

/** Exit codes and what they mean. */
export const exitCodes: [number, string][] = [
  [0, 'Done; also: nothing to do, or a wait that ran out'],
  [1, 'Any other error'],
  [2, 'The command line must change: unknown command or flag, a missing value, nothing selected, an empty text'],
  [3, 'A check ran and failed'],
  [4, 'Not signed in, or the key does not work'],
  [5, 'Refused'],
  [6, 'Not there'],
  [7, 'Conflict with what is there'],
  [8, 'No answer, or an unclear one; trying again may help'],
  [9, 'Done, but standard output could not be written (output_lost); look before you do it again'],
  [126, 'service run: its program may not be run'],
  [127, 'service run: its program is not there'],
  [129, 'Its terminal was closed (SIGHUP); the daemon, and the server without --workers, end with 0'],
  [130, 'Interrupted by Ctrl-C or SIGINT; what follows or watches, the server and the daemon end with 0'],
  [143, 'Terminated by SIGTERM; the server and the daemon end with 0'],
];

/** Where things are kept. */
export const files: [string, string][] = [
  ['~/.config/service/credentials.json', 'Known servers and tokens, mode 0600'],
  ['~/.local/share/service/', 'Database, key and log of the local server'],
  ['~/.local/state/service/', 'What was verified last, and locks'],
  ['.service', 'In a project: the server and board it belongs to; no secret'],
];
