package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func init() { answerers["times"] = answerTime }

func answerTime(raw json.RawMessage) (any, error) {
	var question struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &question); err != nil {
		return nil, err
	}
	text, err := json.Marshal(question.Text)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"time":     reread(text, &metav1.Time{}),
		"micro":    reread(text, &metav1.MicroTime{}),
		"duration": reread(text, &metav1.Duration{}),
	}, nil
}

func reread(text []byte, into json.Unmarshaler) map[string]any {
	if err := into.UnmarshalJSON(text); err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"value": into}
}
