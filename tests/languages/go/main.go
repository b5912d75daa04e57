// Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.
package main

import (
	"fmt"
	"strings"

	"word-f1/scorebox"
)

var config = struct {
	IgnoreCase bool    `json:"ignoreCase"`
	Minimum    float64 `json:"minimum"`
}{IgnoreCase: true}

type meta struct {
	Output int `json:"output"`
	Shared int `json:"shared"`
	Truth  int `json:"truth"`
}

func init() {
	scorebox.Register(scorebox.Scorer{
		Info: scorebox.Info{
			ID:          "word-f1",
			Name:        "Word F1",
			Description: "How many words output and ground truth share: 2 * shared / (words of both).",
			ConfigSchema: `{"type":"object","additionalProperties":false,"properties":{` +
				`"ignoreCase":{"type":"boolean","default":true},` +
				`"minimum":{"type":"number","minimum":0,"maximum":1,"default":0}}}`,
			Reads: scorebox.GroundTruth,
		},
		Configure: configure,
		Score:     score,
	})
}

func configure(document scorebox.Document) error {
	if err := scorebox.Into(&config)(document); err != nil {
		return err
	}
	if !(config.Minimum >= 0 && config.Minimum <= 1) {
		return fmt.Errorf("`minimum` must be 0 to 1")
	}
	return nil
}

func wordsOf(text string) []string {
	if config.IgnoreCase {
		text = strings.ToLower(text)
	}
	return strings.FieldsFunc(text, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
	})
}

func score(it *scorebox.Case) (scorebox.Score, error) {
	if it.GroundTruth == nil {
		return scorebox.Score{}, scorebox.InvalidInput("the case has no groundTruth")
	}
	truth, output := wordsOf(it.GroundTruth.Text()), wordsOf(it.Output.Text())
	left := map[string]int{}
	for _, word := range truth {
		left[word]++
	}
	shared := 0
	for _, word := range output {
		if left[word] > 0 {
			left[word]--
			shared++
		}
	}
	f1 := 1.0
	if total := len(truth) + len(output); total > 0 {
		f1 = 2 * float64(shared) / float64(total)
	}
	if f1 < config.Minimum {
		f1 = 0
	}
	return scorebox.Score{
		Value: scorebox.Value(f1),
		Reason: fmt.Sprintf("%d words shared, of %d in the output and %d in the ground truth",
			shared, len(output), len(truth)),
		Meta: meta{len(output), shared, len(truth)},
	}, nil
}

func main() {}
