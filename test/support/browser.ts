/** A person's browser on a page of the server: its session travels in the cookie, and every write is proven to be the page's. */
import type { CurrentBrowserSession } from '../../src/contract/types.ts';
import { type Answered, Api, type Call } from './api.ts';

export class Browser extends Api {
  /** What the cookie holds. */
  readonly secret: string;
  readonly csrf: string;
  /** Where the test signed it in. */
  readonly sessionId: string = '';

  constructor(url: string, secret: string, csrf: string, personId?: string) {
    super(url, undefined, personId);
    this.secret = secret;
    this.csrf = csrf;
  }

  /** The session as a bearer token, as the deprecated kind of sign-in hands it out. */
  get bearer(): Api {
    return new Api(this.url, this.secret, this.personId);
  }

  get cookie(): string {
    return `service_session_${new URL(this.url).port}=${this.secret}`;
  }

  /** `call.headers` replaces any of them; an empty value leaves one out. */
  override headers(call: Call): Record<string, string> {
    const all = {
      cookie: this.cookie,
      origin: this.url,
      'sec-fetch-site': 'same-origin',
      'x-service-csrf': this.csrf,
      ...super.headers(call),
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  }
}

/** What a page of the server sends when nobody is signed in. */
export const fromPage = (url: string): Record<string, string> => ({ origin: url, 'sec-fetch-site': 'same-origin' });

type SignedIn = Answered<CurrentBrowserSession>;

/** Signs a browser in; `over` is the browser that was signed in before. The answer may be a refusal. */
export function trySignIn(url: string, body: Record<string, unknown>, over?: Browser): Promise<SignedIn> {
  return (over ?? new Api(url)).call('createBrowserSession', { body, headers: fromPage(url) });
}

/** The browser after its sign-in. */
export function browserOf(url: string, { body, headers }: SignedIn): Browser {
  const [, secret = ''] = /=([^;]*);/.exec(headers.get('set-cookie') ?? '') ?? [];
  return Object.assign(new Browser(url, secret, body.csrf_token, body.person.id), { sessionId: body.id });
}

/** Signs in with the key behind a client. */
export async function signIn(person: Api): Promise<Browser> {
  const answer = await trySignIn(person.url, { key: person.token });
  if (answer.status !== 201) throw new Error(`signing in answered ${answer.status}: ${answer.text}`);
  return browserOf(person.url, answer);
}
