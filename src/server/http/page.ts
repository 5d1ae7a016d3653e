/** The web page: the files of `dist/web`, and its one document for every address of its screens. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import { prepareHead, send } from './answer.ts';
import type { AppOptions, Step } from './context.ts';

/** Addresses of the page's screens, which all load the same document. Whatever else is not a file of the page is none of its. */
const screens =
  /^\/(?:(?:boards|join|everything|agents|search|server)?|inbox(?:\/(?:asks|approvals|pairings|invites)\/[A-Za-z0-9_]{1,64})?|settings\/allowance)$/;

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

export function servePage({ page = built }: AppOptions): Step {
  const files = page === undefined ? null : filesOf(page);
  return (ctx, next) => {
    const { path, method } = ctx;
    if (path.startsWith('/v1/') || (method !== 'GET' && method !== 'HEAD')) return next();
    if (!files) return path === '/' ? send(ctx, 200, WELCOME, {}, 'text/plain; charset=utf-8') : next();
    return new Promise((resolve, reject) => {
      ctx.res.once('close', resolve);
      prepareHead(ctx);
      // Found files are written by the library; it calls back only for a path that is not one.
      const { url } = ctx.req;
      if (screens.test(path)) ctx.req.url = '/index.html';
      files(ctx.req, ctx.res, () => {
        ctx.req.url = url;
        for (const name of ctx.res.getHeaderNames()) ctx.res.removeHeader(name);
        Promise.resolve(next()).then(resolve, reject);
      });
    });
  };
}

/** The files of the page: those named by their hash never change, the others are asked for anew. */
function filesOf(folder: string): ReturnType<typeof sirv> {
  return sirv(folder, {
    etag: true,
    brotli: true,
    gzip: true,
    setHeaders: (res, path) => {
      res.setHeader('Cache-Control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
      res.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY);
      res.setHeader('Permissions-Policy', PERMISSIONS_POLICY);
    },
  });
}
