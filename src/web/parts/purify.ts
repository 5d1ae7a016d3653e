/** The cleaner of text that becomes elements. One for the page: a second one would need a second Trusted Types policy. */
import createDOMPurify from 'dompurify';

export const purify = createDOMPurify(window);
