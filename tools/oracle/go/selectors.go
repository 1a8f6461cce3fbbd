package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func init() { answerers["selectors"] = answerSelector }

type selectorQuestion struct {
	Labels   *string               `json:"labels"`
	Fields   *string               `json:"fields"`
	Object   *metav1.LabelSelector `json:"object"`
	Sets     []map[string]string   `json:"sets"`
	Key      string                `json:"key"`
	Unescape *string               `json:"unescape"`
}

func answerSelector(raw json.RawMessage) (any, error) {
	var question selectorQuestion
	if err := json.Unmarshal(raw, &question); err != nil {
		return nil, err
	}
	switch {
	case question.Labels != nil:
		selector, err := labels.Parse(*question.Labels)
		if err != nil {
			return map[string]any{"error": err.Error()}, nil
		}
		answer := labelAnswer(selector, question)
		if object, err := metav1.ParseToLabelSelector(*question.Labels); err != nil {
			answer["objectError"] = err.Error()
		} else {
			answer["object"] = object
		}
		return answer, nil
	case question.Object != nil:
		selector, err := metav1.LabelSelectorAsSelector(question.Object)
		if err != nil {
			return map[string]any{"error": err.Error()}, nil
		}
		answer := labelAnswer(selector, question)
		answer["shown"] = metav1.FormatLabelSelector(question.Object)
		return answer, nil
	case question.Unescape != nil:
		value, err := fields.UnescapeValue(*question.Unescape)
		if err != nil {
			return map[string]any{"error": err.Error()}, nil
		}
		return map[string]any{"value": value, "escaped": fields.EscapeValue(value)}, nil
	}
	selector, err := fields.ParseSelector(*question.Fields)
	if err != nil {
		return map[string]any{"error": err.Error()}, nil
	}
	matches := make([]bool, 0, len(question.Sets))
	for _, set := range question.Sets {
		matches = append(matches, selector.Matches(fields.Set(set)))
	}
	answer := map[string]any{"text": selector.String(), "empty": selector.Empty(), "matches": matches}
	if value, found := selector.RequiresExactMatch(question.Key); found {
		answer["exact"] = value
	}
	return answer, nil
}

func labelAnswer(selector labels.Selector, question selectorQuestion) map[string]any {
	matches := make([]bool, 0, len(question.Sets))
	for _, set := range question.Sets {
		matches = append(matches, selector.Matches(labels.Set(set)))
	}
	answer := map[string]any{"text": selector.String(), "empty": selector.Empty(), "matches": matches}
	if value, found := selector.RequiresExactMatch(question.Key); found {
		answer["exact"] = value
	}
	return answer
}
