// Levenshtein similarity as a JavaScript assertion of promptfoo, with the edit distance that promptfoo uses: its own
// assertion `levenshtein` passes or fails.
const { distance } = require('fastest-levenshtein');

module.exports = (output, { vars }) => {
    const longer = Math.max(output.length, vars.expected.length);
    return longer === 0 ? 1 : 1 - distance(output, vars.expected) / longer;
};
