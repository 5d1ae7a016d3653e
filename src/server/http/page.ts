/** The web page: the files of `dist/web`, and its one document for every address of its screens. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { send, sendBody } from './answer.ts';
import { hasAlready } from './body/ranges.ts';
import type { AppOptions, Context, Step } from './context.ts';

/** Addresses of the page's screens, which all load the same document. Whatever else is not a file of the page is none of its. */
const screens =
  /^\/(?:(?:boards|join|everything|agents|search|server)?|inbox(?:\/(?:asks|approvals|pairings|agents|invites)\/[A-Za-z0-9_-]{1,64})?|settings\/allowance)$/;

/**
 * What the page may do: load its own files and call its own server, nothing else. Scripts come from files of this server
 * only; a preview of a file is shown in a frame made of text (`srcdoc`), which has a narrower policy of its own.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "frame-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify board-workers',
].join('; ');

/** Everything a browser could allow a page and this one never uses. */
const PERMISSIONS_POLICY = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'fullscreen', 'geolocation'],
  ...['gyroscope', 'hid', 'magnetometer', 'microphone', 'midi', 'payment', 'picture-in-picture'],
  ...['publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((feature) => `${feature}=()`)
  .join(', ');

const WELCOME = 'This is a board service. It was built without the web page; use the command line: service --help\n';

/** From the packed server and from its source, the folder of the built page. */
const built = ['./web/', '../../../dist/web/']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((folder) => existsSync(`${folder}index.html`));

export function servePage({ page }: AppOptions): Step {
  const files = page === undefined ? builtFiles() : filesOf(page);
  return (ctx, next) => {
    const { path, method } = ctx;
    if (path.startsWith('/v1/') || (method !== 'GET' && method !== 'HEAD')) return next();
    if (!files) return path === '/' ? send(ctx, 200, WELCOME, {}, 'text/plain; charset=utf-8') : next();
    const file = files.get(screens.test(path) ? '/index.html' : path);
    return file ? sendFile(ctx, file) : next();
  };
}

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html;charset=utf-8',
  '.js': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

/** What a file may be sent as, the smallest first, and the ends of the names under which it lies so. */
const encodings = { br: '.br', gzip: '.gz', identity: '' };

interface PageFile {
  etag: string;
  headers: Record<string, string>;
  bodies: { encoding: string; bytes: Buffer }[];
}

let builtOnce: Map<string, PageFile> | null = null;

/** The files of the built page, which are read once in a process; null if there are none. */
function builtFiles(): Map<string, PageFile> | null {
  if (built !== undefined) builtOnce ??= filesOf(built);
  return builtOnce;
}

/**
 * The files of the page by their paths. All are read now: an upgrade replaces them under a server that goes on, whose page
 * stays the one it was built with.
 */
function filesOf(folder: string): Map<string, PageFile> {
  const names = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }));
  const files = [...names].filter((name) => extname(name) in types);
  return new Map(files.map((name) => [`/${name.replaceAll('\\', '/')}`, fileOf(folder, name, names)]));
}

function fileOf(folder: string, name: string, names: ReadonlySet<string>): PageFile {
  const bodies = Object.entries(encodings)
    .filter(([, ending]) => names.has(name + ending))
    .map(([encoding, ending]) => ({ encoding, bytes: readFileSync(join(folder, name + ending)) }));
  const etag = `"${hash('sha256', bodies.at(-1)!.bytes, 'base64url')}"`;
  const headers = {
    // Those named by their hash never change, the others are asked for anew.
    'Cache-Control': dirname(name) === 'assets' ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Content-Type': types[extname(name)] as string,
    ETag: `W/${etag}`,
    'Permissions-Policy': PERMISSIONS_POLICY,
    Vary: 'Accept-Encoding',
  };
  return { etag, headers, bodies };
}

function sendFile(ctx: Context, { etag, headers, bodies }: PageFile): void {
  if (hasAlready(ctx.headers, etag)) return void sendBody(ctx, 304, headers);
  const body = bodies.find(({ encoding }) => ctx.acceptsEncodings(encoding)) ?? bodies.at(-1);
  const { encoding, bytes } = body as PageFile['bodies'][number];
  const whole: Record<string, string> = { ...headers, 'Content-Length': String(bytes.length) };
  if (encoding !== 'identity') whole['Content-Encoding'] = encoding;
  sendBody(ctx, 200, whole, bytes);
}
